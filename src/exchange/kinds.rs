//! Makes [`Kind`](super::Kind) of the list in the parent.

/// `"name" Kind { keys } => module`, where the module's `make` takes the keys in this order. All have `every` besides.
macro_rules! exchanges {
    ($($(#[$doc:meta])* $name:literal $kind:ident $({ $($(#[$of_key:meta])* $key:ident: $type:ty = $default:expr $(, up to $most:literal or $others:literal)?);+ })? => $module:ident,)+) => {
        /// `[exchange]`: how replicas are drawn together.
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
        #[serde(tag = "kind")]
        pub enum Kind {
            $(
                $(#[$doc])*
                #[serde(rename = $name)]
                $kind {
                    /// How often.
                    every: Every,
                    $($($(#[$of_key])* $key: $type),+)?
                },
            )+
        }

        impl Kind {
            /// The name of each in configs and flags, with the keys that it takes; and `auto`.
            pub const NAMES: &'static [(&'static str, &'static [&'static str])] =
                &[("auto", &[]), $(($name, &["every", $($(stringify!($key)),+)?])),+];

            /// Its name in configs and flags.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Kind::$kind { .. } => $name,)+
                }
            }

            /// The one of this name, its keys from `keys`; `None` for `auto`.
            ///
            /// # Errors
            /// A key that cannot be read.
            pub fn read(name: &str, every: Every, keys: &dyn Keys) -> crate::error::Result<Option<Self>> {
                Ok(match name {
                    $($name => Some(Kind::$kind {
                        every,
                        $($($key: Key::read(keys, stringify!($key), $default, limit!($($most, $others)?))?),+)?
                    }),)+
                    _ => None,
                })
            }

            /// How often.
            pub fn every(&self) -> Every {
                match *self {
                    $(Kind::$kind { every, .. } => every,)+
                }
            }

            /// The same, so often.
            pub fn with_every(mut self, often: Every) -> Self {
                match &mut self {
                    $(Kind::$kind { every, .. } => *every = often,)+
                }
                self
            }

            /// Its keys but `every`.
            pub fn keys(&self) -> Vec<(&'static str, Value)> {
                match *self {
                    $(Kind::$kind { every: _, $($($key),+)? } => vec![$($((stringify!($key), Key::value($key))),+)?],)+
                }
            }

            fn way(&self) -> Way {
                match *self {
                    $(Kind::$kind { every: _, $($($key),+)? } => $module::make($($($key),+)?),)+
                }
            }
        }
    };
}

pub(super) use exchanges;
