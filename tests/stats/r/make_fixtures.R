# What R says: per-replicate fits of the published analysis by lme4, and rank tests. Called by make_fixtures.py.
# In the folder given: data_<name>.csv (participant, item, method, pre, post), weights_<name>.csv (one line per
# replicate: how often each answer is in it), ranks_<k>.csv (sample, value). Out: pre_<name>.csv, ranks.csv.
suppressPackageStartupMessages(library(lme4))

folder <- commandArgs(trailingOnly = TRUE)[1]
methods_of <- function(data) sort(unique(data$method))

described <- function(model, methods) {
  effects <- coef(model)$method
  pre <- 1 / (1 + exp(-effects[match(methods, rownames(effects)), 1]))
  c(pre, singular = isSingular(model), theta = getME(model, "theta")[[1]])
}

quietly <- function(...) suppressWarnings(suppressMessages(glmer(pre ~ (1 | method), family = binomial, ...)))

# With its defaults glmer stops some thousandths of a point from the maximum where a method is nearly always right: its
# inner iterations end early (tolPwrss 1e-7). Tight limits, and again from where the last run stopped.
careful <- glmerControl(
  optimizer = "nloptwrap", tolPwrss = 1e-13,
  optCtrl = list(ftol_abs = 1e-14, xtol_abs = 1e-10, xtol_rel = 1e-12, maxeval = 1e5)
)
fit_carefully <- function(sample, model) {
  best <- NULL
  for (run in 1:4) {
    start <- list(theta = max(getME(model, "theta")[[1]], 1e-3), fixef = fixef(model))
    model <- quietly(data = sample, control = careful, start = start)
    if (is.null(best) || logLik(model) > logLik(best)) best <- model
  }
  best
}

for (file in list.files(folder, "^data_.*csv$")) {
  name <- sub("^data_(.*)[.]csv$", "\\1", file)
  data <- read.csv(file.path(folder, file))
  weights <- as.matrix(read.csv(file.path(folder, paste0("weights_", name, ".csv")), header = FALSE))
  methods <- methods_of(data)
  results <- t(apply(weights, 1, function(weight) {
    sample <- data[rep(seq_len(nrow(data)), weight), ]
    post <- sapply(methods, function(m) mean(sample$post[sample$method == m]))
    model <- quietly(data = sample)
    c(described(model, methods), post, described(fit_carefully(sample, model), methods))
  }))
  results[is.na(results)] <- NaN
  write.table(format(results, digits = 17, trim = TRUE), file.path(folder, paste0("pre_", name, ".csv")),
    sep = ",", row.names = FALSE, col.names = FALSE, quote = FALSE
  )
}

rank_files <- sort(list.files(folder, "^ranks_.*csv$"))
ranks <- t(sapply(rank_files, function(file) {
  data <- read.csv(file.path(folder, file))
  test <- suppressWarnings(wilcox.test(
    data$value[data$sample == 1], data$value[data$sample == 2], exact = TRUE, conf.int = TRUE
  ))
  c(test$statistic, test$p.value, test$estimate, test$conf.int)
}))
write.table(format(ranks, digits = 17, trim = TRUE), file.path(folder, "ranks.csv"),
  sep = ",", row.names = FALSE, col.names = FALSE, quote = FALSE
)
cat(R.version.string, ", lme4 ", as.character(packageVersion("lme4")), "\n", sep = "")
