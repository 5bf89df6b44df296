-- What tare has wrk send, and how wrk tells its figures. Arguments: METHOD, the file with the body or "-", NAME VALUE of headers.

function init(args)
  wrk.method = args[1]
  if args[2] ~= "-" then
    local file = assert(io.open(args[2], "rb"))
    wrk.body = file:read("*a")
    file:close()
  end
  for i = 3, #args - 1, 2 do
    wrk.headers[args[i]] = args[i + 1]
  end
end

-- wrk counts latencies in microseconds, and an answer with a status above 399 as an error.
function done(summary, latency)
  local errors = summary.errors
  print(string.format("tare counts %d %d %d %d %d %d %d", summary.duration, summary.requests,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
  print(string.format("tare latency %.3f %d", latency.mean, latency.max))
  for _, percentile in ipairs({ 50, 75, 90, 95, 99, 99.9, 99.99 }) do
    print(string.format("tare percentile %g %d", percentile, latency:percentile(percentile)))
  end
end
