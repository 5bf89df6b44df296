# How far above its estimate the spread of a prior must lie, and when a comparison must drop it: the simulations of
# docs/notebook/2026-11-28-every-cell.md that chose these rules. Usage: Rscript bench/every_cell.R (R with limma and statmod).
suppressMessages(library(limma))
set.seed(2)

# Degrees of freedom and variance of a prior: the estimate, one standard error above it, and fewer degrees of freedom.
priors <- function(v, df) {
  groups <- length(v)
  e <- log(v) - digamma(df / 2) + log(df / 2)
  spread <- var(e)
  of <- function(centre, spread) {
    between <- spread - trigamma(df / 2)
    d <- if (between <= 0) df * (groups - 1) else min(2 * trigammaInverse(between), df * (groups - 1))
    c(d, exp(centre + digamma(d / 2) - log(d / 2)))
  }
  above <- spread * (1 + sqrt(max(1, mean((e - mean(e))^4) / spread^2 - 1) / (groups - 1)))
  list(estimate = of(mean(e), spread), "s one error above" = of(mean(e) + sqrt(spread / groups), spread), "d one error below" = of(mean(e), above))
}

# Which intervals of the means m hold the truth, 0, and their widths by that of Student's.
intervals <- function(m, s, forks, prior, guard) {
  df <- forks - 1
  used <- pf(s^2 / prior[2], df, prior[1]) < guard
  own <- qt(.975, df) * s / sqrt(forks)
  width <- ifelse(used, qt(.975, df + prior[1]) * sqrt((prior[1] * prior[2] + df * s^2) / (df + prior[1]) / forks), own)
  list(missed = abs(m) > width, width = median(width / own))
}

starts <- function(sd, forks) matrix(rnorm(length(sd) * forks), length(sd)) * sd
spread_of <- function(x) pmax(apply(x, 1, sd), .0005)

cat("| comparisons | spreads differ by | prior | miss | width by Student's |\n")
for (groups in c(10, 20, 126)) for (unlike in c(0, .6, 1)) {
  missed <- width <- c(0, 0, 0)
  tables <- 40000 %/% groups
  for (table in seq_len(tables)) {
    x <- starts(.03 * exp(unlike * rnorm(groups)), 3)
    s <- spread_of(x)
    all <- priors(s^2, 2)
    for (i in 1:3) {
      one <- intervals(rowMeans(x), s, 3, all[[i]], .95)
      missed[i] <- missed[i] + mean(one$missed)
      width[i] <- width[i] + one$width
    }
  }
  for (i in 1:3) cat(sprintf("| %d | e^%.1f | %s | %.1f %% | %.2f |\n", groups, unlike, names(all)[i], 100 * missed[i] / tables, width[i] / tables))
}

cat("\n| wild | prior dropped above | wild ones miss | all miss |\n")
for (guard in c(.99, .95, .9)) {
  wild <- all_missed <- 0
  for (table in 1:400) {
    is_wild <- seq_len(60) <= 6
    x <- starts(ifelse(is_wild, .15, .03 * exp(.3 * rnorm(60))), 3)
    s <- spread_of(x)
    robust <- fitFDistRobustly(s^2, rep(2, 60))
    prior <- c(min(robust$df2, 118), robust$scale * exp(sqrt((trigamma(1) + trigamma(robust$df2 / 2)) / 60)))
    missed <- intervals(rowMeans(x), s, 3, prior, guard)$missed
    wild <- wild + mean(missed[is_wild])
    all_missed <- all_missed + mean(missed)
  }
  cat(sprintf("| 6 of 60 scatter 5 times as much | %.2f | %.1f %% | %.1f %% |\n", guard, wild / 4, all_missed / 4))
}
