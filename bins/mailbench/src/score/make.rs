//! Detectors by name.

use std::path::Path;
use std::time::{Duration, SystemTime};

use wardline_cli::Failure;
use wardline_detectors::{
    Anthropic, Bedrock, BedrockAuth, Caller, Client, Detector, ExecDetector, Gemini, Heuristics, HttpDetector,
    HttpOptions, Judge, JudgeOptions, Lakera, ModelArmor, NgramDetector, OpenAi, Policy, Price, PromptShields,
    RateLimits, ReplayDetector, ScamGuard, ScoresDetector, Secret, ServiceDetector, Stop,
};

use super::args::Args;
use super::catalog::{CATALOG, missing, setting};

/// The detector of a `DETECTOR` or `NAME=DETECTOR` argument.
pub(crate) fn detector(spec: &str, args: &Args, stop: &Stop) -> Result<Box<dyn Detector>, Failure> {
    // A command or address may hold an equals sign of its own; a name holds neither colon nor slash nor space.
    let (name, spec) = match spec.split_once('=') {
        Some((name, rest)) if !name.is_empty() && !name.contains([':', '/', ' ']) => (Some(name), rest),
        _ => (None, spec),
    };
    let (kind, rest) = spec.split_once(':').unwrap_or((spec, ""));
    let named = |usual: &str| name.unwrap_or(usual).to_owned();
    let stem = || Path::new(rest).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let needs_rest = ["classifier", "ngram", "judge", "exec", "http", "https", "replay", "scores"].contains(&kind);
    if needs_rest == rest.is_empty() {
        return Err(unknown(spec));
    }
    require(kind, rest)?;
    Ok(match kind {
        "heuristics" => Box::new(Heuristics::new(named(kind))?),
        "classifier" => classifier(named(rest), rest, args)?,
        "ngram" => Box::new(NgramDetector::open(named(&stem()), Path::new(rest), args.allow_trained_on)?),
        "judge" => judge(named(&format!("judge:{rest}")), rest, args, stop)?,
        "exec" => {
            let words = shell_words::split(rest).map_err(|e| Failure::usage(format!("detector {spec}: {e}")))?;
            let (program, arguments) = words.split_first().ok_or_else(|| unknown(spec))?;
            let timeout = Duration::from_secs_f64(args.policy.timeout);
            Box::new(ExecDetector::new(named(kind), program, arguments.to_vec(), timeout, args.send_raw))
        }
        "http" | "https" => {
            let key = setting("WARDLINE_HTTP_KEY").map(Secret::new);
            Box::new(HttpDetector::new(named("http"), spec, key, args.send_raw, client(args, stop)?))
        }
        "replay" => Box::new(ReplayDetector::open(named(&stem()), Path::new(rest))?),
        "scores" => Box::new(ScoresDetector::open(named(&stem()), Path::new(rest))?),
        "lakera" => {
            let base = setting("LAKERA_BASE_URL").unwrap_or_else(|| Lakera::BASE.into());
            let service = Lakera::new(base, key("LAKERA_GUARD_API_KEY"), setting("LAKERA_PROJECT_ID"));
            Box::new(ServiceDetector::new(named(kind), service, client(args, stop)?))
        }
        "model-armor" => {
            let of = |name: &str| setting(name).unwrap_or_default();
            let service = ModelArmor::new(
                setting("MODEL_ARMOR_BASE_URL"),
                key("GOOGLE_ACCESS_TOKEN"),
                of("MODEL_ARMOR_PROJECT"),
                of("MODEL_ARMOR_LOCATION"),
                of("MODEL_ARMOR_TEMPLATE"),
            )?;
            Box::new(ServiceDetector::new(named(kind), service, client(args, stop)?))
        }
        "scamguard" => {
            let base = setting("SCAMGUARD_BASE_URL").unwrap_or_default();
            let service = ScamGuard::new(base, setting("SCAMGUARD_API_KEY").map(Secret::new));
            Box::new(ServiceDetector::new(named(kind), service, client(args, stop)?))
        }
        "prompt-shields" => {
            let endpoint = setting("CONTENT_SAFETY_ENDPOINT").unwrap_or_default();
            let service = PromptShields::new(endpoint, key("CONTENT_SAFETY_KEY"));
            Box::new(ServiceDetector::new(named(kind), service, client(args, stop)?))
        }
        "bedrock" => {
            let version = setting("BEDROCK_GUARDRAIL_VERSION").unwrap_or_else(|| "DRAFT".into());
            let guardrail = setting("BEDROCK_GUARDRAIL_ID").unwrap_or_default();
            let region = setting("AWS_REGION").unwrap_or_default();
            let service = Bedrock::new(setting("BEDROCK_BASE_URL"), region, guardrail, version, aws())?;
            Box::new(ServiceDetector::new(named(kind), service, client(args, stop)?))
        }
        _ => return Err(unknown(spec)),
    })
}

fn unknown(spec: &str) -> Failure {
    let all: Vec<&str> = CATALOG.iter().map(|e| e.spec).collect();
    Failure::usage(format!("unknown detector {spec}; there are {}", all.join(", ")))
}

/// Fails when the environment lacks what the detector cannot do without.
fn require(kind: &str, rest: &str) -> Result<(), Failure> {
    let full = format!("{kind}:{rest}");
    let entry = CATALOG.iter().find(|e| match e.spec.split_once("/MODEL") {
        Some((judge, _)) => full.starts_with(&format!("{judge}/")),
        None => e.spec == kind,
    });
    let lacking = entry.map(missing).unwrap_or_default();
    if lacking.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = lacking.iter().map(|n| n.replace('|', " or ")).collect();
    let spec = full.trim_end_matches(':');
    Err(Failure::usage(format!("detector {spec}: not set in the environment: {}", names.join(", "))))
}

fn key(name: &str) -> Secret {
    Secret::new(setting(name).unwrap_or_default())
}

fn aws() -> BedrockAuth {
    if setting("AWS_BEARER_TOKEN_BEDROCK").is_some() {
        return BedrockAuth::ApiKey(key("AWS_BEARER_TOKEN_BEDROCK"));
    }
    let now = || {
        #[expect(clippy::disallowed_methods, reason = "a signed request carries its date")]
        let now = SystemTime::now();
        now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |t| t.as_secs())
    };
    BedrockAuth::Keys {
        access_key: key("AWS_ACCESS_KEY_ID"),
        secret_key: key("AWS_SECRET_ACCESS_KEY"),
        session_token: setting("AWS_SESSION_TOKEN").map(Secret::new),
        now,
    }
}

#[cfg(not(feature = "inference"))]
fn classifier(_: String, _: &str, _: &Args) -> Result<Box<dyn Detector>, Failure> {
    Err(wardline_cli::without_inference("mailbench"))
}

#[cfg(feature = "inference")]
fn classifier(name: String, key: &str, args: &Args) -> Result<Box<dyn Detector>, Failure> {
    let registry = wardline_classifier::Registry::built_in()?;
    // A folder's model need not be in the registry.
    let entry = match (registry.get(key), &args.model.model_dir) {
        (Ok(entry), _) => Some(entry),
        (Err(_), Some(_)) => None,
        (Err(unknown), None) => return Err(unknown.into()),
    };
    let data = wardline_cli::data_dir(args.data_dir.as_deref())?.path;
    let model = args.model.load(key, entry, &data)?;
    Ok(Box::new(wardline_detectors::ClassifierDetector::new(name, model)))
}

fn judge(name: String, rest: &str, args: &Args, stop: &Stop) -> Result<Box<dyn Detector>, Failure> {
    let unknown = || unknown(&format!("judge:{rest}"));
    let (provider, model) = rest.split_once('/').filter(|(_, m)| !m.is_empty()).ok_or_else(unknown)?;
    let mut options = JudgeOptions::new(model);
    options.task = args.judge.task.into();
    options.samples = args.judge.samples;
    options.temperature = args.judge.temperature;
    options.vision = args.judge.vision;
    options.extra = args.judge.judge_extra.clone().unwrap_or_default();
    let client = client(args, stop)?;
    let base = |name: &str, usual: &str| setting(name).unwrap_or_else(|| usual.into());
    Ok(match provider {
        "openai" => Box::new(Judge::new(name, OpenAi::new(key("OPENAI_API_KEY")), options, client)),
        "compatible" => {
            let server = setting("OPENAI_BASE_URL").unwrap_or_default();
            let provider = OpenAi::compatible(server, setting("OPENAI_API_KEY").map(Secret::new));
            Box::new(Judge::new(name, provider, options, client))
        }
        "gemini" => {
            let provider = Gemini::new(base("GEMINI_BASE_URL", Gemini::BASE), key("GEMINI_API_KEY"));
            Box::new(Judge::new(name, provider, options, client))
        }
        "anthropic" => {
            let provider = Anthropic::new(base("ANTHROPIC_BASE_URL", Anthropic::BASE), key("ANTHROPIC_API_KEY"));
            Box::new(Judge::new(name, provider, options, client))
        }
        _ => return Err(unknown()),
    })
}

fn client(args: &Args, stop: &Stop) -> Result<Client, Failure> {
    let given = &args.policy;
    let mut policy = Policy::default();
    policy.retry.attempts = given.attempts;
    policy.rate = RateLimits::new(given.rpm, given.tpm);
    policy.budget.requests = given.max_requests;
    policy.budget.tokens = given.max_tokens;
    policy.budget.cost = given.max_cost;
    policy.budget.price = Price::new(given.price_input, given.price_output, given.price_request);
    let mut options = HttpOptions::default();
    options.timeout = Duration::from_secs_f64(given.timeout);
    options.proxy = given.proxy.clone();
    Ok(Client::new(&options, Caller::new(policy, stop.clone()))?)
}
