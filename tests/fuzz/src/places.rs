//! Friend codes: links that a person scans or pastes.

use link::friend_code::{FriendCode, LONGEST};

/// Whatever is accepted is written as a code that means the same.
pub(crate) fn friend_code(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match FriendCode::read(&text) {
        Ok(code) => {
            assert!(text.trim().len() <= LONGEST);
            let written = code.to_string();
            // A place may be longer in its canonical form, so that a code of the greatest length cannot be written again.
            if written.len() <= LONGEST {
                assert_eq!(FriendCode::read(&written).as_ref(), Ok(&code), "{written}");
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
