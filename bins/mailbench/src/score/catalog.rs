//! What detectors there are, and what each wants from the environment.

/// One entry of `mailbench detectors`.
pub(crate) struct Entry {
    /// How it is written on the command line.
    pub(crate) spec: &'static str,
    pub(crate) task: &'static str,
    /// Environment variables it cannot do without; `|` separates alternatives.
    pub(crate) required: &'static [&'static str],
    /// Environment variables it also reads.
    pub(crate) optional: &'static [&'static str],
    pub(crate) about: &'static str,
}

pub(crate) const CATALOG: &[Entry] = &[
    Entry {
        spec: "heuristics",
        task: "both",
        required: &[],
        optional: &[],
        about: "rules over segments, signals, addresses and links; local",
    },
    Entry {
        spec: "ngram:MODEL",
        task: "the model's",
        required: &[],
        optional: &[],
        about: "logistic regression over hashed n-grams, trained by `mailbench train`; local",
    },
    Entry {
        spec: "classifier:KEY",
        task: "injection",
        required: &[],
        optional: &["ORT_DYLIB_PATH"],
        about: "a model of `deveval models list`, or NAME with --model-dir; local, in builds with --features inference",
    },
    Entry {
        spec: "judge:openai/MODEL",
        task: "both",
        required: &["OPENAI_API_KEY"],
        optional: &[],
        about: "a language model at OpenAI",
    },
    Entry {
        spec: "judge:compatible/MODEL",
        task: "both",
        required: &["OPENAI_BASE_URL"],
        optional: &["OPENAI_API_KEY"],
        about: "a language model behind any OpenAI-compatible server: Ollama, vLLM, llama.cpp",
    },
    Entry {
        spec: "judge:gemini/MODEL",
        task: "both",
        required: &["GEMINI_API_KEY"],
        optional: &["GEMINI_BASE_URL"],
        about: "a language model at Google",
    },
    Entry {
        spec: "judge:anthropic/MODEL",
        task: "both",
        required: &["ANTHROPIC_API_KEY"],
        optional: &["ANTHROPIC_BASE_URL"],
        about: "a language model at Anthropic",
    },
    Entry {
        spec: "lakera",
        task: "injection",
        required: &["LAKERA_GUARD_API_KEY"],
        optional: &["LAKERA_BASE_URL", "LAKERA_PROJECT_ID"],
        about: "Lakera Guard",
    },
    Entry {
        spec: "model-armor",
        task: "injection",
        required: &["GOOGLE_ACCESS_TOKEN", "MODEL_ARMOR_PROJECT", "MODEL_ARMOR_LOCATION", "MODEL_ARMOR_TEMPLATE"],
        optional: &["MODEL_ARMOR_BASE_URL"],
        about: "Google Model Armor",
    },
    Entry {
        spec: "scamguard",
        task: "both",
        required: &["SCAMGUARD_BASE_URL"],
        optional: &["SCAMGUARD_API_KEY"],
        about: "ScamGuard",
    },
    Entry {
        spec: "prompt-shields",
        task: "injection",
        required: &["CONTENT_SAFETY_ENDPOINT", "CONTENT_SAFETY_KEY"],
        optional: &[],
        about: "Azure AI Content Safety, Prompt Shields",
    },
    Entry {
        spec: "bedrock",
        task: "injection",
        required: &[
            "AWS_REGION",
            "BEDROCK_GUARDRAIL_ID",
            "AWS_BEARER_TOKEN_BEDROCK|AWS_ACCESS_KEY_ID",
            "AWS_BEARER_TOKEN_BEDROCK|AWS_SECRET_ACCESS_KEY",
        ],
        optional: &["BEDROCK_GUARDRAIL_VERSION", "AWS_SESSION_TOKEN", "BEDROCK_BASE_URL"],
        about: "Amazon Bedrock ApplyGuardrail",
    },
    Entry {
        spec: "exec:COMMAND",
        task: "both",
        required: &[],
        optional: &[],
        about: "a program that answers JSON lines",
    },
    Entry {
        spec: "http:URL, https:URL",
        task: "both",
        required: &[],
        optional: &["WARDLINE_HTTP_KEY"],
        about: "a service that answers the same JSON",
    },
    Entry { spec: "replay:FILE", task: "both", required: &[], optional: &[], about: "a predictions file" },
    Entry {
        spec: "scores:FILE",
        task: "injection",
        required: &[],
        optional: &[],
        about: "a classifier's score table, by the text's digest",
    },
];

/// A setting from the environment; an empty one is none.
pub(crate) fn setting(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "keys and addresses come from the environment and nowhere else")]
    std::env::var(name).ok().filter(|v| !v.trim().is_empty())
}

/// The required variables that are not set.
pub(crate) fn missing(entry: &Entry) -> Vec<&'static str> {
    entry.required.iter().copied().filter(|names| !names.split('|').any(|n| setting(n).is_some())).collect()
}
