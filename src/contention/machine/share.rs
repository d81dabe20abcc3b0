//! How the seconds of a survey are shared out: by weights, and what a topic does not need goes to the others.

use super::{Item, Question};

/// A question before its time is known.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) question: Question,
    pub(super) cpus: Vec<u32>,
    /// Seconds of a pass before anything is measured.
    pub(super) setup_s: f64,
    /// Seconds of measuring below which it tells nothing, and above which it tells no more.
    pub(super) measure_s: (f64, f64),
}

/// Starting and binding threads: measured, a tenth of a millisecond and 40 µs for each.
const START_S: f64 = 0.15e-3;
const THREAD_S: f64 = 0.06e-3;

impl Draft {
    pub(super) fn new(question: Question, cpus: Vec<u32>, measure_s: (f64, f64)) -> Self {
        let setup_s = START_S + THREAD_S * cpus.len() as f64;
        Draft { question, cpus, setup_s, measure_s }
    }

    fn least_s(&self) -> f64 {
        self.setup_s + self.measure_s.0
    }

    fn most_s(&self) -> f64 {
        self.setup_s + self.measure_s.1
    }

    /// With a share of 0 … 1 of the measuring that is of use.
    fn item(self, share: f64) -> Item {
        let (least, most) = self.measure_s;
        Item {
            question: self.question,
            cpus: self.cpus,
            setup_s: self.setup_s,
            measure_s: least + share * (most - least),
        }
    }
}

/// Questions of one table, from few to many.
pub(super) struct Topic<'a> {
    /// The field of the price list.
    pub(super) field: &'static str,
    /// What it is called where something of it is left out.
    pub(super) name: String,
    pub(super) weight: f64,
    /// Coarse to fine. A finer one takes longer.
    pub(super) tiers: Vec<Tier<'a>>,
}

/// One choice of questions.
pub(super) struct Tier<'a> {
    /// Which, as half a sentence.
    pub(super) covers: String,
    pub(super) count: usize,
    /// Seconds of a pass, at least and at most.
    pub(super) seconds: (f64, f64),
    /// Makes them: there may be millions, which are only made if they fit.
    pub(super) make: Box<dyn FnOnce() -> Vec<Draft> + 'a>,
}

impl<'a> Tier<'a> {
    pub(super) fn of(covers: impl Into<String>, drafts: Vec<Draft>) -> Self {
        let sum = |seconds: fn(&Draft) -> f64| drafts.iter().map(seconds).sum();
        let seconds = (sum(Draft::least_s), sum(Draft::most_s));
        Tier { covers: covers.into(), count: drafts.len(), seconds, make: Box::new(|| drafts) }
    }

    /// So many drafts like `one`.
    pub(super) fn alike(
        covers: impl Into<String>,
        count: usize,
        one: &Draft,
        make: impl FnOnce() -> Vec<Draft> + 'a,
    ) -> Self {
        let seconds = (count as f64 * one.least_s(), count as f64 * one.most_s());
        Tier { covers: covers.into(), count, seconds, make: Box::new(make) }
    }
}

/// What came of sharing out.
pub(super) struct Shared {
    pub(super) items: Vec<Item>,
    /// Topics, and what was cut of them.
    pub(super) left_out: Vec<(String, String)>,
    /// Fields and topics that got no question at all.
    pub(super) empty: Vec<&'static str>,
}

/// Shares `seconds` of one pass among the topics. What is left by those that have all they can use goes to the others.
pub(super) fn share_out(topics: Vec<Topic<'_>>, seconds: f64) -> Shared {
    let most: Vec<f64> = topics.iter().map(|topic| topic.tiers.last().map_or(0.0, |tier| tier.seconds.1)).collect();
    let allotted = fill(&topics.iter().map(|topic| topic.weight).collect::<Vec<_>>(), &most, seconds);
    let mut shared = Shared { items: Vec::new(), left_out: Vec::new(), empty: Vec::new() };
    // Those that want least come first, so that what they leave goes to those that want most.
    let mut order: Vec<(Topic<'_>, f64, f64)> = topics
        .into_iter()
        .zip(allotted)
        .zip(most)
        .map(|((topic, allotted), most)| (topic, allotted, most))
        .collect();
    order.sort_by(|one, other| one.2.total_cmp(&other.2));
    let mut over = 0.0;
    for (topic, allotted, _) in order {
        over += allotted;
        let (field, used) = (topic.field, choose(topic, over, &mut shared));
        match used {
            Some(used) => over = (over - used).max(0.0),
            None => shared.empty.push(field),
        }
    }
    shared.items.sort_by_key(|item| item.question.section());
    shared.left_out = joined(std::mem::take(&mut shared.left_out));
    shared
}

/// Sentences that say the same of several topics, as one.
fn joined(left_out: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut joined: Vec<(String, String)> = Vec::new();
    for (name, what) in left_out {
        match joined.iter_mut().find(|(_, other)| *other == what) {
            Some((names, _)) => *names = format!("{names}; {name}"),
            None => joined.push((name, what)),
        }
    }
    joined
}

/// Water filling: each gets its weight's share of `total`, but no more than its `most`; what is over goes to the rest.
fn fill(weights: &[f64], most: &[f64], total: f64) -> Vec<f64> {
    let mut allotted = vec![0.0; weights.len()];
    let mut open: Vec<usize> = (0..weights.len()).collect();
    let mut left = total;
    loop {
        let weight: f64 = open.iter().map(|&i| weights[i]).sum();
        let (full, rest): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|&&i| most[i] <= left * weights[i] / weight);
        if full.is_empty() {
            rest.iter().for_each(|&i| allotted[i] = left * weights[i] / weight);
            return allotted;
        }
        full.iter().for_each(|&i| allotted[i] = most[i]);
        left -= full.iter().map(|&i| most[i]).sum::<f64>();
        open = rest;
    }
}

/// Takes the finest tier that fits `seconds`, or as much of the coarsest as does; then as much measuring as fits. Returns
/// the seconds used.
fn choose(topic: Topic<'_>, seconds: f64, shared: &mut Shared) -> Option<f64> {
    let finest = topic.tiers.last().map_or(0, |tier| tier.count);
    let fitting = topic.tiers.iter().rposition(|tier| tier.seconds.0 <= seconds);
    let tier = topic.tiers.into_iter().nth(fitting.unwrap_or(0))?;
    let covers = tier.covers.clone();
    let mut drafts = (tier.make)();
    if fitting.is_none() {
        let mut sum = 0.0;
        let kept = drafts.iter().take_while(|draft| {
            sum += draft.least_s();
            sum <= seconds
        });
        let kept = kept.count();
        drafts.truncate(kept);
    }
    if drafts.len() < finest {
        let part = if fitting.is_none() { "only the first of: " } else { "" };
        let what = format!("{part}{covers}; {} of {finest} questions", drafts.len());
        shared.left_out.push((topic.name, what));
    }
    let least: f64 = drafts.iter().map(Draft::least_s).sum();
    let most: f64 = drafts.iter().map(Draft::most_s).sum();
    let share = if most > least { ((seconds - least) / (most - least)).clamp(0.0, 1.0) } else { 0.0 };
    let used = least + share * (most - least);
    let any = !drafts.is_empty();
    shared.items.extend(drafts.into_iter().map(|draft| draft.item(share)));
    any.then_some(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drafts(count: usize) -> Vec<Draft> {
        let one = Draft { question: Question::Timer, cpus: vec![0], setup_s: 1.0, measure_s: (1.0, 3.0) };
        vec![one; count]
    }

    fn topic<'a>(weight: f64, counts: &[usize]) -> Topic<'a> {
        let tiers = counts.iter().map(|&count| Tier::of(format!("{count}"), drafts(count))).collect();
        Topic { field: "field", name: "topic".into(), weight, tiers }
    }

    #[test]
    fn time_goes_by_weight_and_what_one_cannot_use_goes_to_the_others() {
        assert_eq!(fill(&[1.0, 1.0, 2.0], &[100.0, 5.0, 100.0], 40.0), [35.0 / 3.0, 5.0, 70.0 / 3.0]);
        assert_eq!(fill(&[1.0, 1.0], &[3.0, 4.0], 40.0), [3.0, 4.0]);
        assert_eq!(fill(&[], &[], 40.0), [0.0; 0]);
    }

    #[test]
    fn the_finest_tier_that_fits_is_taken_and_what_is_left_out_is_said() {
        let shared = share_out(vec![topic(1.0, &[2, 5, 50])], 15.0);
        assert_eq!(shared.items.len(), 5);
        assert_eq!(shared.items.iter().map(Item::seconds).sum::<f64>(), 15.0);
        assert_eq!(shared.left_out, [("topic".to_string(), "5; 5 of 50 questions".to_string())]);
    }

    #[test]
    fn what_does_not_fit_at_all_is_cut_and_named() {
        let shared = share_out(vec![topic(1.0, &[4, 5]), topic(1.0, &[4])], 6.5);
        assert!(shared.items.iter().map(Item::seconds).sum::<f64>() <= 6.5);
        assert_eq!(shared.left_out.len(), 2);
        let none = share_out(vec![topic(1.0, &[4])], 1.0);
        assert_eq!((none.items.len(), none.empty), (0, vec!["field"]));
    }
}
