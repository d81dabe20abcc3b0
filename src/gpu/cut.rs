//! How a kernel cuts its work into workgroups and teams: the same numbers start a device's kernels and bound the twin's
//! loops.

/// Invocations of a workgroup.
pub(super) const GROUP: usize = 256;
/// Rows that a team has in hand at once: their margins are the four numbers of a vector.
pub(super) const ROWS: usize = 4;
/// Entries of a dense row that an invocation keeps in registers: four vectors of four.
pub(super) const HELD: usize = 16;
/// Numbers that are summed one after the other at either level of a team's sum.
pub(super) const FAN: usize = 16;
/// Partial gradients that are written at most: more would cost more to add up than they hide latency.
pub(super) const GROUPS_MAX: usize = 2048;
/// Partial gradients that are added up side by side.
pub(super) const LANES: usize = 32;

/// Workgroups of 256 invocations, cut into teams of as many as one row takes.
///
/// Position p of a batch belongs to team t of workgroup g where ⌊p/4⌋ = (turn · groups + g) · teams + t: in a turn, neighbouring
/// teams have neighbouring positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    group: usize,
    team: usize,
}

impl Cut {
    /// The widest dense row, in slots, that a team can hold.
    pub const WIDEST: usize = GROUP * HELD;

    /// For dense rows of `width` slots: the smallest team that holds a row in registers, so that the matrix is read once; none
    /// where a whole workgroup does not.
    pub fn holding(width: usize) -> Option<Self> {
        let team = [4, 8, 16, 32, 64, 128, GROUP].into_iter().find(|team| team * HELD >= width)?;
        Some(Cut { group: GROUP, team })
    }

    /// For rows that are walked through, of `mean` entries on average: a team takes a few turns a row, and where rows are short
    /// no invocations are left without an entry.
    pub fn walking(mean: usize) -> Self {
        let team = [4, 8, 16, 32].into_iter().find(|team| 2 * team >= mean).unwrap_or(if mean < 1024 {
            32
        } else {
            GROUP
        });
        Cut { group: GROUP, team }
    }

    /// One invocation in all, which has every row to itself.
    pub fn alone() -> Self {
        Cut { group: 1, team: 1 }
    }

    /// A whole workgroup to a row.
    pub fn together() -> Self {
        Cut { group: GROUP, team: GROUP }
    }

    /// Invocations of a workgroup.
    pub fn group(&self) -> usize {
        self.group
    }

    /// Invocations of a team.
    pub fn team(&self) -> usize {
        self.team
    }

    /// Teams of a workgroup.
    pub fn teams(&self) -> usize {
        self.group / self.team
    }

    /// Workgroups for `rows` rows; at least one, so that an empty batch writes its zeros.
    pub fn groups(&self, rows: usize) -> usize {
        rows.div_ceil(ROWS * self.teams()).clamp(1, GROUPS_MAX)
    }

    /// Turns that each workgroup takes over `rows` rows.
    pub fn turns(&self, rows: usize) -> usize {
        rows.div_ceil(ROWS * self.teams() * self.groups(rows))
    }

    /// The positions of turn `turn` of team `team` of workgroup `group`, of `rows` in all.
    pub(super) fn positions(&self, rows: usize, turn: usize, group: usize, team: usize) -> std::ops::Range<usize> {
        let first = ((turn * self.groups(rows) + group) * self.teams() + team) * ROWS;
        first.min(rows)..(first + ROWS).min(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_of_a_batch_is_visited_once() {
        for cut in
            [Cut::holding(1).unwrap(), Cut::holding(512).unwrap(), Cut::holding(4096).unwrap(), Cut::walking(700)]
        {
            for rows in [0, 1, 3, 4, 5, 127, 128, 129, 70_001] {
                let mut seen = vec![0u8; rows];
                for (turn, group) in (0..cut.turns(rows)).flat_map(|t| (0..cut.groups(rows)).map(move |g| (t, g))) {
                    for team in 0..cut.teams() {
                        cut.positions(rows, turn, group, team).for_each(|p| seen[p] += 1);
                    }
                }
                assert!(seen.iter().all(|&times| times == 1), "{cut:?} {rows}");
                assert!(cut.groups(rows) <= GROUPS_MAX);
            }
        }
    }

    #[test]
    fn a_team_holds_its_row_and_no_smaller_one_would() {
        for width in [1, 64, 65, 128, 511, 512, 513, 4096] {
            let team = Cut::holding(width).expect("it fits").team();
            assert!(team * HELD >= width && (team == 4 || team / 2 * HELD < width), "{width} {team}");
        }
        assert_eq!(Cut::holding(Cut::WIDEST + 1), None);
    }
}
