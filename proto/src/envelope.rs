//! What peer and control messages share: a number for each message, bounds after decoding, typed errors.

use prost::DecodeError;

/// Why the payload of a frame does not decode. Only [`UnknownMessage`](Self::UnknownMessage) is no fault of the sender: a
/// newer peer may send messages of a later version, and gets `Unsupported` once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// No message has this number in our version.
    #[error("no message has number {0}")]
    UnknownMessage(u32),
    /// Not protobuf, or not the fields of this message.
    #[error("not a message: {0}")]
    Malformed(#[from] DecodeError),
    /// Well formed, but longer or larger than [`limits`](crate::limits) allows.
    #[error("{field} is out of bounds")]
    OutOfBounds {
        /// `Message.field`, as named in the schema.
        field: &'static str,
    },
}

/// A message that knows the bounds of its own fields.
pub(crate) trait Bounded {
    fn check(&self) -> Result<(), EnvelopeError>;
}

pub(crate) fn bound(holds: bool, field: &'static str) -> Result<(), EnvelopeError> {
    if holds { Ok(()) } else { Err(EnvelopeError::OutOfBounds { field }) }
}

/// Makes an enum of messages, each with its own number. The number of a removed message is never used again.
macro_rules! numbered_messages {
    ($(#[$doc:meta])* $name:ident in $module:ident { $($number:literal => $message:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "messages live for one dispatch; a box each would be worse")]
        pub enum $name {
            $(
                #[doc = concat!("Number ", stringify!($number), "; see the schema.")]
                $message($crate::$module::$message),
            )+
        }

        impl $name {
            /// Every number in use, in order.
            pub const MSGIDS: &[u32] = &[$($number),+];

            /// The message's number in a frame's header.
            pub fn msgid(&self) -> u32 {
                match self {
                    $(Self::$message(_) => $number,)+
                }
            }

            /// Whether the message is within [`limits`](crate::limits), so that the other side accepts it.
            pub fn check(&self) -> Result<(), $crate::EnvelopeError> {
                match self {
                    $(Self::$message(message) => $crate::envelope::Bounded::check(message),)+
                }
            }

            /// The number and payload for a frame. Bounds are not checked: the caller keeps [`limits`](crate::limits), and
            /// the other side closes the link on a message that exceeds them.
            pub fn encode(&self) -> (u32, bytes::Bytes) {
                match self {
                    $(Self::$message(message) => ($number, prost::Message::encode_to_vec(message).into()),)+
                }
            }

            /// Decodes a frame's payload and checks its bounds: every string, byte field and list is within
            /// [`limits`](crate::limits). An enum field may still hold an unknown number; a `oneof` or a message field may
            /// be absent.
            pub fn decode(msgid: u32, payload: &[u8]) -> Result<Self, $crate::EnvelopeError> {
                match msgid {
                    $(
                        $number => {
                            let message = <$crate::$module::$message as prost::Message>::decode(payload)?;
                            $crate::envelope::Bounded::check(&message)?;
                            Ok(Self::$message(message))
                        }
                    )+
                    unknown => Err($crate::EnvelopeError::UnknownMessage(unknown)),
                }
            }
        }

        $(
            impl From<$crate::$module::$message> for $name {
                fn from(message: $crate::$module::$message) -> Self {
                    Self::$message(message)
                }
            }
        )+

        impl From<&$name> for $crate::frame::Outgoing {
            fn from(message: &$name) -> Self {
                let (msgid, payload) = message.encode();
                Self { msgid, payload }
            }
        }
    };
}
pub(crate) use numbered_messages;
