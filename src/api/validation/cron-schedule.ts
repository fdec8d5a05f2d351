/** Values of a field of a schedule. */
interface Bounds {
  readonly least: number;
  readonly most: number;
  /** Names of the values from `least` on. */
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Minute, hour, day of the month, month, and day of the week. */
const FIELDS: readonly Bounds[] = [
  {least: 0, most: 59},
  {least: 0, most: 23},
  {least: 1, most: 31},
  {least: 1, most: 12, names: MONTHS},
  {least: 0, most: 6, names: DAYS},
];

const DESCRIPTORS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const EVERY = '@every ';
/** A duration in Go's notation. */
const DURATION = /^[-+]?(0|((\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;

/** Reason why a schedule is invalid. */
class ScheduleFault extends Error {}

function readNumber(text: string, names: readonly string[] = [], least = 0): number {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return least + named;
  if (!/^[-+]?\d+$/.test(text))
    throw new ScheduleFault(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  const number = Number(text);
  if (number < 0) throw new ScheduleFault(`negative number (${number}) not allowed: ${text}`);
  return number;
}

/** Returns the first and last value before a step. */
function readEnds(text: string, range: string, {least, most, names}: Bounds): readonly [number, number] {
  const [low = '', high, ...others] = text.split('-');
  if (low === '*' || low === '?') return [least, most];
  const start = readNumber(low, names, least);
  if (others.length > 0) throw new ScheduleFault(`too many hyphens: ${range}`);
  return [start, high === undefined ? start : readNumber(high, names, least)];
}

/** Checks a range with an optional step, such as `*`, `5`, `mon-fri` or `0-30/10` (getRange). */
function checkRange(range: string, bounds: Bounds): void {
  const [ends = '', step, ...others] = range.split('/');
  const [start, last] = readEnds(ends, range, bounds);
  if (others.length > 0) throw new ScheduleFault(`too many slashes: ${range}`);
  const increment = step === undefined ? 1 : readNumber(step);
  const end = step !== undefined && !ends.includes('-') ? bounds.most : last;
  const {least, most} = bounds;
  if (start < least)
    throw new ScheduleFault(`beginning of range (${start}) below minimum (${least}): ${range}`);
  if (end > most) throw new ScheduleFault(`end of range (${end}) above maximum (${most}): ${range}`);
  if (start > end)
    throw new ScheduleFault(`beginning of range (${start}) beyond end of range (${end}): ${range}`);
  if (increment === 0) throw new ScheduleFault(`step of range should be a positive number: ${range}`);
}

function checkDescriptor(text: string): void {
  if (DESCRIPTORS.includes(text)) return;
  if (!text.startsWith(EVERY)) throw new ScheduleFault(`unrecognized descriptor: ${text}`);
  const duration = text.slice(EVERY.length);
  if (!DURATION.test(duration))
    throw new ScheduleFault(
      `failed to parse duration ${duration}: time: invalid duration ${JSON.stringify(duration)}`,
    );
}

function checkFields(text: string): void {
  const fields = text.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length)
    throw new ScheduleFault(
      `expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`,
    );
  for (const [index, bounds] of FIELDS.entries())
    for (const range of fields[index]?.split(',') ?? []) if (range !== '') checkRange(range, bounds);
}

/** Returns the reason why the schedule of a CronJob is invalid (robfig/cron ParseStandard); undefined if it is valid. */
export function findScheduleProblem(schedule: string): string | undefined {
  if (schedule.includes('TZ')) return 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  try {
    if (schedule.startsWith('@')) checkDescriptor(schedule);
    else checkFields(schedule);
    return undefined;
  } catch (fault) {
    if (fault instanceof ScheduleFault) return fault.message;
    throw fault;
  }
}

/** Characters of a part of a time zone's name; a part starts with a capital, and a file name is case-sensitive. */
const ZONE_PART = /^[A-Z][A-Za-z._0-9+-]{0,13}$/;
/** Names that ICU knows and the time zone database does not have. */
const ICU_ZONES =
  /^(ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST|US\/Pacific-New|SystemV\/.*)$/;

function isKnownZone(name: string): boolean {
  if (!name.split('/').every((part) => ZONE_PART.test(part)) || ICU_ZONES.test(name)) return false;
  try {
    const {timeZone} = new Intl.DateTimeFormat('en', {timeZone: name}).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Returns the reason why the time zone of a CronJob is invalid (validateTimeZone); undefined if it is valid. */
export function findTimeZoneProblem(name: string): string | undefined {
  if (name === '') return 'timeZone must be nil or non-empty string';
  if (name.toLowerCase() === 'local')
    return 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  return isKnownZone(name) ? undefined : `unknown time zone ${name}`;
}
