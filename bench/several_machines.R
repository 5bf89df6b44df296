# How often the intervals over machines are wrong: the tables of docs/notebook/2026-11-29-several-machines.md. It is written apart
# from crates/stats, so that each checks the other. `Rscript bench/several_machines.R`; with R's metafor installed it also prints
# metafor's figures for the BCG trials, which are those of the tests.
ALPHA <- 0.05
RUNS <- 40000
set.seed(2911)

weighted <- function(y, v, between) {
  w <- 1 / (v + between)
  mean <- rowSums(w * y) / rowSums(w)
  list(mean = mean, variance = 1 / rowSums(w), q = rowSums(w * (y - mean)^2))
}

# Paule & Mandel, one table a row, by bisection.
paule_mandel <- function(y, v) {
  k <- ncol(y)
  least <- numeric(nrow(y))
  most <- rowSums((y - rowMeans(y))^2) / (k - 1)
  for (i in 1:60) {
    middle <- (least + most) / 2
    below <- weighted(y, v, middle)$q > k - 1
    least <- ifelse(below, middle, least)
    most <- ifelse(below, most, middle)
  }
  ifelse(weighted(y, v, 0)$q <= k - 1, 0, (least + most) / 2)
}

# Welch (1951).
equal_p <- function(y, v, df) {
  k <- ncol(y)
  at <- weighted(y, v, 0)
  doubt <- rowSums((1 - at$variance / v)^2 / df)
  f <- at$q / (k - 1) / (1 + 2 * (k - 2) / (k^2 - 1) * doubt)
  pf(f, k - 1, (k^2 - 1) / (3 * doubt), lower.tail = FALSE)
}

# True log-ratios of machines about 0.1, and that of one more.
effects <- list(
  "all alike" = function(n) rep(0.1, n),
  "normal, 5 %" = function(n) 0.1 + rnorm(n, 0, 0.05),
  "normal, 15 %" = function(n) 0.1 + rnorm(n, 0, 0.15),
  "two kinds, × 1.5 apart" = function(n) 0.1 + log(1.5) * (runif(n) < 0.5),
  "one of five × 1.5" = function(n) 0.1 + log(1.5) * (runif(n) < 0.2)
)
mean_of <- c(0.1, 0.1, 0.1, 0.1 + log(1.5) / 2, 0.1 + log(1.5) / 5)

# Starts of a machine scatter by 5 % times e^0.6; three starts, alone (2 degrees of freedom) or with a prior of 3.
simulate <- function(k, effect, df, worst = 1) {
  truth <- matrix(effect(RUNS * k), RUNS)
  v <- (0.05 * exp(0.6 * matrix(rnorm(RUNS * k), RUNS)))^2 / 3
  v[, 1] <- v[, 1] * worst^2
  y <- truth + sqrt(v) * matrix(rnorm(RUNS * k), RUNS)
  list(y = y, v = v * matrix(rchisq(RUNS * k, df), RUNS) / df, another = effect(RUNS))
}

percent <- function(x) sprintf("%.1f %%", 100 * x)
table_row <- function(...) cat("|", paste(c(...), collapse = " | "), "|\n")

judge <- function(k, name, df, worst = 1) {
  effect <- effects[[name]]
  mean <- mean_of[[match(name, names(effects))]]
  s <- simulate(k, effect, df, worst)
  between <- paule_mandel(s$y, s$v)
  at <- weighted(s$y, s$v, between)
  half <- qt(1 - ALPHA / 2, k - 1) * sqrt(at$variance)
  narrow <- half * sqrt(pmin(at$q / (k - 1), 1))
  wide <- if (k > 2) qt(1 - ALPHA / 2, k - 2) * sqrt(between + at$variance) else NA
  rubin <- qt(1 - ALPHA / 2, k - 1) * sqrt(between + at$variance)
  table_row(
    name, k, percent(mean(abs(at$mean - mean) > half)), percent(mean(abs(at$mean - mean) > narrow)), sprintf("%.0f %%", 100 * median(half)),
    if (k > 2) percent(mean(abs(at$mean - s$another) > wide)) else "–", percent(mean(abs(at$mean - s$another) > rubin)),
    if (k > 2) sprintf("%.0f %%", 100 * median(wide)) else "–", percent(mean(between == 0)), percent(mean(equal_p(s$y, s$v, df) < ALPHA))
  )
}

head <- function(title) {
  cat("\n", title, "\n\n", sep = "")
  table_row("machines are", "k", "mean missed", "without the floor of 1", "± (median)", "another missed, t(k − 2)", "t(k − 1)", "± (median)", "variance 0", "said to differ")
  cat("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
}

head("Three starts with a prior of three degrees of freedom")
for (name in names(effects)) for (k in c(2, 3, 4, 6)) judge(k, name, 5)
head("Three starts alone")
for (name in names(effects)[c(1, 2, 3)]) for (k in c(2, 3, 4, 6)) judge(k, name, 2)
head("The first machine scatters five times as much")
for (name in names(effects)[c(1, 2, 3)]) for (k in c(2, 3, 4, 6)) judge(k, name, 5, worst = 5)

if (requireNamespace("metafor", quietly = TRUE)) {
  suppressMessages(library(metafor))
  trials <- escalc(measure = "RR", ai = tpos, bi = tneg, ci = cpos, di = cneg, data = dat.bcg)
  cat("\nmetafor", as.character(packageVersion("metafor")), "\n")
  for (method in c("PM", "REML")) for (test in c("z", "knha")) {
    fit <- rma(yi, vi, data = trials, method = method, test = test, control = list(tol = 1e-12, threshold = 1e-12))
    cat(method, test, sprintf("tau2 %.8f mean %.8f se %.8f ci %.8f %.8f p %.8g QE %.6f\n", fit$tau2, fit$beta, fit$se, fit$ci.lb, fit$ci.ub, fit$pval, fit$QE))
  }
  y <- matrix(trials$yi, 1); v <- matrix(trials$vi, 1)
  between <- paule_mandel(y, v); at <- weighted(y, v, between)
  half <- qt(0.975, 11) * sqrt(between + at$variance)
  cat(sprintf("here PM tau2 %.8f mean %.8f se %.8f; another %.8f %.8f\n", between, at$mean, sqrt(at$variance), at$mean - half, at$mean + half))
}
plants <- split(PlantGrowth$weight, PlantGrowth$group)
of <- function(f) matrix(sapply(plants, f), 1)
cat("PlantGrowth: Welch p", oneway.test(weight ~ group, PlantGrowth)$p.value, "here", equal_p(of(mean), of(function(x) var(x) / length(x)), of(function(x) length(x) - 1)), "\n")
