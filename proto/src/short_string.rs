//! The short authentication string (SAS) that two people compare at their first meeting: pictures or digits.

/// Pictures in one short string.
pub const SHOWN: usize = 4;

/// Digits in one short string.
pub const DIGITS: usize = 6;

/// One of the pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// One character without modifiers or joiners, from Unicode 6 or 7, so that every emoji font of the last ten years has it.
    pub emoji: char,
    /// What a Chinese speaker calls it aloud.
    pub chinese: &'static str,
    /// What an English speaker calls it aloud.
    pub english: &'static str,
}

/// Sixty-four common things, which stay distinct on a small dim screen and when spoken in a noisy room: no two of the same
/// kind and colour, no two that differ only by a facial expression, no two words alike in either language. A number's picture
/// never changes, since both devices must show the same.
pub const PICTURES: [Picture; 64] = {
    const fn picture(emoji: char, chinese: &'static str, english: &'static str) -> Picture {
        Picture { emoji, chinese, english }
    }
    [
        picture('🐶', "狗", "dog"),
        picture('🐱', "猫", "cat"),
        picture('🐴', "马", "horse"),
        picture('🐷', "猪", "pig"),
        picture('🐰', "兔子", "rabbit"),
        picture('🐼', "熊猫", "panda"),
        picture('🐔', "鸡", "chicken"),
        picture('🐧', "企鹅", "penguin"),
        picture('🐢', "乌龟", "turtle"),
        picture('🐟', "鱼", "fish"),
        picture('🐙', "章鱼", "octopus"),
        picture('🐘', "大象", "elephant"),
        picture('🐍', "蛇", "snake"),
        picture('🐝', "蜜蜂", "bee"),
        picture('🐌', "蜗牛", "snail"),
        picture('🐸', "青蛙", "frog"),
        picture('🌻', "向日葵", "sunflower"),
        picture('🌵', "仙人掌", "cactus"),
        picture('🌲', "松树", "pine tree"),
        picture('🍄', "蘑菇", "mushroom"),
        picture('🍎', "苹果", "apple"),
        picture('🍌', "香蕉", "banana"),
        picture('🍇', "葡萄", "grapes"),
        picture('🍉', "西瓜", "melon"),
        picture('🍓', "草莓", "strawberry"),
        picture('🌽', "玉米", "corn"),
        picture('🍞', "面包", "bread"),
        picture('🍕', "披萨", "pizza"),
        picture('🎂', "蛋糕", "cake"),
        picture('🍦', "冰淇淋", "ice cream"),
        picture('🌙', "月亮", "moon"),
        picture('⭐', "星星", "star"),
        picture('🌈', "彩虹", "rainbow"),
        picture('🔥', "火", "fire"),
        picture('⛄', "雪人", "snowman"),
        picture('☔', "雨伞", "umbrella"),
        picture('🏠', "房子", "house"),
        picture('🚗', "汽车", "car"),
        picture('🚲', "自行车", "bicycle"),
        picture('🚂', "火车", "train"),
        picture('🚀', "火箭", "rocket"),
        picture('⛵', "帆船", "sailboat"),
        picture('⚓', "锚", "anchor"),
        picture('🎈', "气球", "balloon"),
        picture('🎁', "礼物", "gift"),
        picture('🎸', "吉他", "guitar"),
        picture('🎺', "小号", "trumpet"),
        picture('🔔', "铃铛", "bell"),
        picture('⚽', "足球", "football"),
        picture('🏀', "篮球", "basketball"),
        picture('🏆', "奖杯", "trophy"),
        picture('🎲', "骰子", "dice"),
        picture('📖', "书", "book"),
        picture('📌', "图钉", "pin"),
        picture('🔑', "钥匙", "key"),
        picture('🔒', "锁", "lock"),
        picture('🔨', "锤子", "hammer"),
        picture('💡', "灯泡", "light bulb"),
        picture('⏰', "闹钟", "clock"),
        picture('👓', "眼镜", "glasses"),
        picture('👑', "皇冠", "crown"),
        picture('👟', "鞋", "shoe"),
        picture('💎', "钻石", "diamond"),
        picture('👍', "大拇指", "thumb"),
    ]
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_picture_and_no_word_comes_twice() {
        let distinct = |key: fn(&Picture) -> String| PICTURES.iter().map(key).collect::<HashSet<_>>().len();
        assert_eq!(distinct(|picture| picture.emoji.to_string()), 64);
        assert_eq!(distinct(|picture| picture.chinese.to_owned()), 64);
        assert_eq!(distinct(|picture| picture.english.to_owned()), 64);
    }
}
