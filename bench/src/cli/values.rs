//! What single words on the command line mean.

use std::time::Duration;

use crate::exit::Failure;
use crate::message::LARGEST_BODY;

/// Elements of a list that may be repeated and comma-separated, in order, without doubles.
pub fn elements(given: &[String]) -> Vec<&str> {
    let mut elements = Vec::new();
    for element in given.iter().flat_map(|list| list.split(',')) {
        if !elements.contains(&element) {
            elements.push(element);
        }
    }
    elements
}

/// Elements that were given more than once.
pub fn doubles(given: &[String]) -> Vec<&str> {
    let all: Vec<&str> = given.iter().flat_map(|list| list.split(',')).collect();
    let mut doubles: Vec<&str> = Vec::new();
    for (place, element) in all.iter().enumerate() {
        if all[..place].contains(element) && !doubles.contains(element) {
            doubles.push(element);
        }
    }
    doubles
}

/// One of a few words.
///
/// # Errors
///
/// With the nearest word, or all of them, as the hint.
pub fn choice<T: Copy>(what: &str, word: &str, choices: &[(&str, T)]) -> Result<T, Failure> {
    let found = choices.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| unknown(what, word, &choices.iter().map(|(name, _)| *name).collect::<Vec<_>>()))
}

/// The complaint about a word that is none of these.
pub fn unknown(what: &str, word: &str, known: &[&str]) -> Failure {
    let nearest =
        known.iter().min_by_key(|name| distance(name, word)).filter(|name| distance(name, word) <= 2);
    let values = known.join(" ");
    let hint = match nearest {
        Some(name) => format!("did you mean {name}? values: {values}"),
        None => format!("values: {values}"),
    };
    Failure::usage(format!("unknown {what} '{word}'"), hint)
}

/// A whole number in a range. `_` may separate digits.
///
/// # Errors
///
/// With the range as the hint.
pub fn number(flag: &str, word: &str, low: u64, high: u64) -> Result<u64, Failure> {
    let digits = word.replace('_', "");
    let value = if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None };
    value.filter(|value| (low..=high).contains(value)).ok_or_else(|| {
        Failure::usage(
            format!("{flag}: '{word}' is not allowed"),
            format!("a whole number from {low} to {high}"),
        )
    })
}

/// [`number`] as a size in memory.
///
/// # Errors
///
/// As there.
pub fn count(flag: &str, word: &str, low: u64, high: u64) -> Result<usize, Failure> {
    number(flag, word, low, high).and_then(|value| usize::try_from(value).map_err(Failure::internal))
}

/// A body: `64`, `5k`, `64KiB`, `1M`.
///
/// # Errors
///
/// Above 16 MiB, or not a size.
pub fn body(word: &str) -> Result<usize, Failure> {
    let split = word.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(word.len());
    let (digits, unit) = word.split_at(split);
    let factor = match unit {
        "" | "B" => Some(1),
        "k" | "K" | "KiB" => Some(1 << 10),
        "m" | "M" | "MiB" => Some(1 << 20),
        _ => None,
    };
    let value = digits.replace('_', "").parse::<usize>().ok().zip(factor);
    let bytes =
        value.and_then(|(value, factor): (usize, usize)| value.checked_mul(factor)).ok_or_else(|| {
            Failure::usage(format!("--body: '{word}' is not a size"), "such as 1024, 5k, 64KiB or 1M")
        })?;
    if bytes > LARGEST_BODY {
        return Err(Failure::usage(format!("--body: '{word}' is too large"), "at most 16 MiB"));
    }
    Ok(bytes)
}

/// A time: `300ms`, `1.5s`, `2m`.
///
/// # Errors
///
/// Outside of the range, or not a time.
pub fn time(flag: &str, word: &str, low: Duration, high: Duration) -> Result<Duration, Failure> {
    let split = word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len());
    let (digits, unit) = word.split_at(split);
    let seconds = match unit {
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        "m" => Some(60.0),
        _ => None,
    };
    let value = digits.replace('_', "").parse::<f64>().ok().zip(seconds);
    value
        .and_then(|(value, factor)| Duration::try_from_secs_f64(value * factor).ok())
        .filter(|time| (low..=high).contains(time))
        .ok_or_else(|| {
            let range = format!("a time from {low:?} to {high:?}, such as 300ms, 1.5s or 2m");
            Failure::usage(format!("{flag}: '{word}' is not allowed"), range)
        })
}

/// A share in percent, with or without the sign, as a fraction.
///
/// # Errors
///
/// Outside of 0 to `high` percent.
pub fn percent(flag: &str, word: &str, high: f64) -> Result<f64, Failure> {
    let value = word.strip_suffix('%').unwrap_or(word).parse::<f64>().ok();
    value.filter(|value| (0.0..=high).contains(value)).map(|value| value / 100.0).ok_or_else(|| {
        Failure::usage(format!("{flag}: '{word}' is not allowed"), format!("from 0% to {high}%"))
    })
}

/// A level of confidence.
///
/// # Errors
///
/// Outside of 0.5 to 0.9999; a level in percent gets the fraction as its hint.
pub fn confidence(word: &str) -> Result<f64, Failure> {
    let value = word.parse::<f64>().ok();
    if let Some(value) = value.filter(|value| (0.5..=0.9999).contains(value)) {
        return Ok(value);
    }
    let hint = match value {
        Some(value) if (50.0..=99.99).contains(&value) => format!("{}", value / 100.0),
        _ => "from 0.5 to 0.9999".to_owned(),
    };
    Err(Failure::usage(format!("--confidence: '{word}' is not allowed"), hint))
}

/// Edit distance, for guessing what was meant.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(failure: Failure) -> (String, String) {
        match failure {
            Failure::Usage { what, hint } => (what, hint),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lists() {
        let given = ["1,100".to_owned(), "400,100".to_owned()];
        assert_eq!(elements(&given), ["1", "100", "400"]);
        assert_eq!(doubles(&given), ["100"]);
        assert_eq!(elements(&["100,,200".to_owned()]), ["100", "", "200"]);
    }

    #[test]
    fn near_misses() {
        let choices = [("protobuf", 0), ("thrift", 1), ("all", 2)];
        assert_eq!(choice("codec", "thrift", &choices).expect("known"), 1);
        let (what, hint) = parts(choice("codec", "thirft", &choices).unwrap_err());
        assert_eq!(what, "unknown codec 'thirft'");
        assert_eq!(hint, "did you mean thrift? values: protobuf thrift all");
        let (_, hint) = parts(choice("codec", "xyz", &choices).unwrap_err());
        assert_eq!(hint, "values: protobuf thrift all");
    }

    #[test]
    fn numbers() {
        assert_eq!(number("-n", "1_000", 1, 10_000).expect("a number"), 1000);
        for word in ["0", "abc", "", "-5", "1e3", "65536", "+5", "99999999999999999999"] {
            let (what, hint) = parts(number("--concurrency", word, 1, 65_535).unwrap_err());
            assert_eq!(what, format!("--concurrency: '{word}' is not allowed"));
            assert_eq!(hint, "a whole number from 1 to 65535");
        }
    }

    #[test]
    fn sizes() {
        for (word, bytes) in
            [("0", 0), ("64", 64), ("64B", 64), ("5k", 5120), ("64KiB", 65_536), ("16M", 16 << 20)]
        {
            assert_eq!(body(word).expect("a size"), bytes, "{word}");
        }
        assert_eq!(parts(body("64M").unwrap_err()).1, "at most 16 MiB");
        for word in ["", "k", "1.5k", "-1", "5 k", "99999999999999999999M"] {
            assert!(body(word).is_err(), "{word}");
        }
    }

    #[test]
    fn times() {
        let of = |word| time("--duration", word, Duration::from_millis(200), Duration::from_secs(86_400));
        assert_eq!(of("1.5s").expect("a time"), Duration::from_millis(1500));
        assert_eq!(of("2m").expect("a time"), Duration::from_secs(120));
        for word in ["", "5", "100ms", "-1s", "nans", "inf s", "25h"] {
            assert!(of(word).is_err(), "{word}");
        }
    }

    #[test]
    fn shares() {
        assert!((percent("--noise-threshold", "2%", 50.0).expect("a share") - 0.02).abs() < 1e-12);
        assert!(percent("--noise-threshold", "60%", 50.0).is_err());
        assert!((confidence("0.95").expect("a level") - 0.95).abs() < 1e-12);
        assert_eq!(parts(confidence("95").unwrap_err()).1, "0.95");
        assert!(confidence("nan").is_err());
    }
}
