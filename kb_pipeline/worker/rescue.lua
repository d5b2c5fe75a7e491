-- Moves aside jobs whose ids are names that the queue needs for keys of its own, and puts them back as next under ids
-- that harm nobody. A job's fields lie under prefix .. id: with the id "active" in place of the list of active jobs.
--   KEYS     the keys to look at
--   ARGV[1]  the prefix of the queue's keys
--   ARGV[2]  what the new ids begin with
--   ARGV[3…] the names of KEYS, that is KEYS less the prefix
-- Returns the names that jobs were moved away from.
local prefix, stem = ARGV[1], ARGV[2]

local function kind(key)
  return redis.call('TYPE', key).ok
end

local function is_job(key)
  return kind(key) == 'hash' and redis.call('HEXISTS', key, 'data') == 1 and redis.call('HEXISTS', key, 'name') == 1
end

local waiting = kind(prefix .. 'wait')
if waiting ~= 'list' and waiting ~= 'none' and not is_job(prefix .. 'wait') then
  return {}
end

local moved = {}
for i, key in ipairs(KEYS) do
  local name = ARGV[i + 2]
  -- An id that begins with "0:" harms nobody, but its job is passed over; one that began was not.
  local skipped = string.sub(name, 1, 2) ~= '0:' or redis.call('HEXISTS', key, 'processedOn') == 0
  if is_job(key) and skipped then
    redis.call('RENAME', key, prefix .. stem .. name)
    moved[#moved + 1] = name
  end
end

for _, name in ipairs(moved) do
  for _, list in ipairs({'wait', 'active', 'paused'}) do
    if kind(prefix .. list) == 'list' then
      redis.call('LREM', prefix .. list, 0, name)
    end
  end
  for _, set in ipairs({'prioritized', 'delayed', 'completed', 'failed', 'waiting-children'}) do
    if kind(prefix .. set) == 'zset' then
      redis.call('ZREM', prefix .. set, name)
    end
  end
  if kind(prefix .. 'stalled') == 'set' then
    redis.call('SREM', prefix .. 'stalled', name)
  end
  redis.call('DEL', prefix .. name .. ':lock')
  -- What it went through under its old id says nothing about the job.
  redis.call('HDEL', prefix .. stem .. name, 'defa', 'stc')
  redis.call('RPUSH', prefix .. 'wait', stem .. name)
end

local marker = kind(prefix .. 'marker')
if #moved > 0 and (marker == 'zset' or marker == 'none') then
  redis.call('ZADD', prefix .. 'marker', 0, '0')
end
return moved
