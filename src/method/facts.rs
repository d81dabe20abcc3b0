//! What a method says of itself, before a run is compiled for it: what settings are held against, what is placed for it, and
//! how it is made.

use super::Method;
use crate::objective::Frame;

/// What the store and the state of a method mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The store is x.
    Primal,
    /// The state is α, the store u = (1/(λ₂W)) Σ wᵢ αᵢ aᵢ.
    Dual,
    /// Lines are columns: the state is x, the store z = Ax.
    Columns,
}

/// The step of a method where none is set. L is the smoothness of F or of its terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// `diminishing`, from what short trials find.
    Searched,
    /// `constant`, 1/(3L) for the worst term.
    OfTerms,
    /// `adaptive1`, γ′ = 0.9/L for F.
    OfAll,
}

/// What fits an intercept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intercept {
    /// A scalar of each worker's own.
    Private,
    /// A column of ones that no regulariser touches.
    Column,
    /// A column of ones, penalised like the others, if `penalize_intercept` says so; else none can be fitted.
    Penalized,
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// What store and state mean.
    pub form: Form,
    /// Its step where none is set; or why it has none, as what follows "the method".
    pub step: std::result::Result<First, &'static str>,
    /// Why it cannot minimise a loss with a kink, if it cannot.
    pub kink: Option<&'static str>,
    /// What it keeps for each line, if it keeps anything.
    pub keeps: Option<&'static str>,
    /// Whether it has a [`Companion`](super::Companion).
    pub companion: bool,
    /// What fits an intercept.
    pub intercept: Intercept,
    /// Whether it moves by whole passes and not by lines.
    pub passes: bool,
    /// Why it needs lines that are the same whatever x is, if it does, as what follows "the method". A method that does not is
    /// marked in the list of methods, too, since only those are compiled for lines that move.
    pub fixed: Option<&'static str>,
}

impl Facts {
    /// Of a method that keeps nothing and takes one line an update: x is the store, the step is searched for.
    pub const PRIMAL: Facts = Facts {
        form: Form::Primal,
        step: Ok(First::Searched),
        kink: None,
        keeps: None,
        companion: false,
        intercept: Intercept::Private,
        passes: false,
        fixed: None,
    };

    /// Of a method that keeps a memo for each line, and their average beside the parameters.
    pub const TABLE: Facts = Facts {
        step: Ok(First::OfTerms),
        kink: Some(
            "slopes that are remembered say nothing of the next ones at a kink, and the variance they should reduce stays",
        ),
        keeps: Some("a memo"),
        companion: true,
        intercept: Intercept::Column,
        fixed: Some("remembers slopes as multiples of rows, and with a rank the rows are parameters, which move"),
        ..Facts::PRIMAL
    };
}

/// What a method is made from.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The constants of the problem.
    pub frame: &'a Frame,
    /// Entries of the data.
    pub nonzeros: u64,
}

/// Does something with a method, of whatever type it is.
pub trait Visitor {
    /// What comes of it.
    type Output;
    /// Does it.
    fn visit<M: Method>(self, method: M) -> Self::Output;
}

/// Makes [`Kind`](super::Kind) of the list in the parent.
macro_rules! methods {
    ($($name:literal $kind:ident $({ $($(#[$of_key:meta])* $key:ident: $type:ty = $default:expr),+ })? => $module:ident $(for $any:ident)?,)+) => {
        /// `[method]`: every method that there is, and `auto`.
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
        #[serde(tag = "kind")]
        pub enum Kind {
            /// Picks by problem and says why.
            #[serde(rename = "auto")]
            Auto,
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                #[serde(rename = $name)]
                $kind $({ $($(#[$of_key])* $key: $type),+ })?,
            )+
        }

        impl Kind {
            /// The name of each in configs and flags, with the keys that it takes.
            pub const NAMES: &'static [(&'static str, &'static [&'static str])] =
                &[("auto", &[]), $(($name, &[$($(stringify!($key)),+)?])),+];

            /// Its name.
            pub fn name(&self) -> &'static str {
                match self {
                    Kind::Auto => "auto",
                    $(Kind::$kind { .. } => $name,)+
                }
            }

            /// The one of this name with its keys' defaults; `auto` for a name that none has.
            pub fn named(name: &str) -> Self {
                match name {
                    $($name => Kind::$kind $({ $($key: $default),+ })?,)+
                    _ => Kind::Auto,
                }
            }

            /// The one of this name, which must be one of [`Kind::NAMES`]; its keys from `keys`.
            ///
            /// # Errors
            /// A key that cannot be read.
            pub fn read(name: &str, keys: &dyn crate::config::keyed::Keys) -> crate::error::Result<Self> {
                let _ = keys;
                Ok(match name {
                    $($name => Kind::$kind $({ $($key: crate::config::keyed::Key::read(keys, stringify!($key), $default, crate::config::keyed::Limit::NONE)?),+ })?,)+
                    _ => Kind::Auto,
                })
            }

            /// Its keys.
            pub fn keys(&self) -> Vec<(&'static str, crate::config::keyed::Value)> {
                match self {
                    Kind::Auto => Vec::new(),
                    $(Kind::$kind $({ $($key),+ })? => vec![$($((stringify!($key), crate::config::keyed::Key::value(*$key))),+)?],)+
                }
            }

            /// What it says of itself; `None` for `auto`.
            pub fn facts(&self) -> Option<&'static Facts> {
                match self {
                    Kind::Auto => None,
                    $(Kind::$kind { .. } => Some(&$module::FACTS),)+
                }
            }

            /// Hands the method, made for `about`, to `visitor`.
            ///
            /// # Panics
            /// For `auto`.
            pub fn make<V: facts::Visitor>(&self, about: &About<'_>, visitor: V) -> V::Output {
                match self {
                    Kind::Auto => unreachable!("auto has chosen"),
                    $(Kind::$kind $({ $($key),+ })? => visitor.visit($module::make(about $($(, *$key)+)?)),)+
                }
            }

            /// As [`Kind::make`], compiled for the methods alone that take lines of any kind.
            ///
            /// # Panics
            /// For the others, and for `auto`.
            pub fn make_for_any<V: facts::Visitor>(&self, about: &About<'_>, visitor: V) -> V::Output {
                match self {
                    $($(Kind::$kind { .. } => {
                        facts::check_mark!($any);
                        visitor.visit($module::make(about))
                    })?)+
                    _ => unreachable!("a method of fixed lines was refused"),
                }
            }

            /// Whether it is marked.
            #[cfg(test)]
            fn takes_any(&self) -> bool {
                match self {
                    $($(Kind::$kind { .. } => {
                        facts::check_mark!($any);
                        true
                    })?)+
                    _ => false,
                }
            }
        }
    };
}

/// The one mark that a method in the list can have.
macro_rules! check_mark {
    (any) => {};
}

pub(super) use {check_mark, methods};

#[cfg(test)]
mod tests {
    use crate::method::Kind;

    #[test]
    fn a_method_is_marked_for_any_lines_unless_it_says_why_not() {
        for (name, _) in Kind::NAMES {
            if let Some(facts) = Kind::named(name).facts() {
                assert_eq!(Kind::named(name).takes_any(), facts.fixed.is_none(), "{name}");
            }
        }
    }
}
