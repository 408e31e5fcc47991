# What lme4 says of crossed mixed models. Called by make_mixed.py. In the folder given: mixed_<name>.csv (participant,
# item, method, pre, post). Out: mixed_<name>.json with the logistic model of all answers and the linear one of post - pre.
suppressPackageStartupMessages({library(lme4); library(jsonlite)})

folder <- commandArgs(trailingOnly = TRUE)[1]
careful <- glmerControl(
  optimizer = "bobyqa", tolPwrss = 1e-10, optCtrl = list(rhoend = 1e-8, maxfun = 1e6), calc.derivs = TRUE
)

for (file in list.files(folder, "^mixed_.*csv$")) {
  data <- read.csv(file.path(folder, file))
  data$method <- factor(data$method)
  long <- rbind(
    data.frame(data[c("participant", "item", "method")], after = 0, right = data$pre),
    data.frame(data[c("participant", "item", "method")], after = 1, right = data$post)
  )
  logistic <- suppressWarnings(suppressMessages(glmer(
    right ~ 0 + method + after:method + (1 | participant) + (0 + after | participant) + (1 | item) + (0 + after | item),
    data = long, family = binomial, control = careful
  )))
  sds <- sapply(VarCorr(logistic), function(part) attr(part, "stddev"))
  linear <- suppressMessages(lmer(
    I(post - pre) ~ 0 + method + (1 | participant) + (1 | item),
    data = data, control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10))
  ))
  parts <- as.data.frame(VarCorr(linear))
  found <- list(
    logistic = list(
      coefficients = unname(fixef(logistic)), se = unname(sqrt(diag(as.matrix(vcov(logistic))))),
      names = names(sds), sds = unname(sds), log_likelihood = as.numeric(logLik(logistic))
    ),
    linear = list(
      coefficients = unname(fixef(linear)), se = unname(sqrt(diag(as.matrix(vcov(linear))))),
      names = parts$grp, sds = parts$sdcor, criterion = as.numeric(REMLcrit(linear))
    )
  )
  write_json(found, file.path(folder, sub("csv$", "json", file)), digits = 12, auto_unbox = TRUE)
}
cat(R.version.string, ", lme4 ", as.character(packageVersion("lme4")), "\n", sep = "")
