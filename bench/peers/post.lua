-- The load of all candidates: the same refund, whose order is a new one each time. For the proxy BENCH_TOKEN is set: then the same
-- arguments stand inside of what our request wraps around them, and the headers are ours. What changes has a fixed length, so that a
-- request is put together from parts and making it costs the same for all.
local parts, count = {}, 0
local MARK = "@@@@@@@@@"

local function replace_mark(text)
  local from, found = 1, {}
  while true do
    local first, last = text:find(MARK, from, true)
    if not first then break end
    found[#found + 1] = text:sub(from, first - 1)
    from = last + 1
  end
  found[#found + 1] = text:sub(from)
  return found
end

function init()
  local series, token = os.getenv("BENCH_SERIES"), os.getenv("BENCH_TOKEN")
  local body = '{"orderId":"' .. series .. MARK .. '","amount":42,"currency":"EUR","reason":"' .. string.rep("x", 300) .. '"}'
  local headers = { ["content-type"] = "application/json" }
  if token then
    body = '{"capability":"refund.create","arguments":' .. body .. '}'
    headers["authorization"] = "Bearer " .. token
    headers["idempotency-key"] = series .. MARK
    headers["prefer"] = "wait=20"
    headers["run-id"] = "bench"
  end
  parts = replace_mark(wrk.format("POST", nil, headers, body))
end

function request()
  count = count + 1
  return table.concat(parts, string.format("%09d", count))
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'JSON {"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"maxUs":%d,"notOk":%d,"broken":%d,"timeouts":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), latency.max,
    errors.status, errors.connect + errors.read + errors.write, errors.timeout))
end
