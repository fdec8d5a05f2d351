import {compare} from '../../base/compare.js';
import {humanAgo, humanDuration} from '../../format/duration.js';
import {humanSize} from '../../format/human-size.js';
import type {Json, JsonObject} from '../../format/json.js';
import {truncateDigest, truncateId} from '../../format/truncate-id.js';
import {toNamedImage} from '../../operations/filters/image-matching.js';
import {at, text} from '../../operations/inspect/verbose-info.js';

/** Returns the value of a field; undefined if the row has none. */
type Field = (row: Json, nowMs: number) => string | undefined;

/** First of the texts that is not empty. */
const firstOf = (...texts: readonly string[]): string | undefined => texts.find((each) => each !== '');

const podName = (row: Json): string | undefined => firstOf(text(at(row, 'labels', 'io.kubernetes.pod.name')));

/** Creation time in ms since the epoch: nanoseconds of the CRI, or RFC 3339 of a build step. */
function createdMs(row: Json): number | undefined {
  const nanos = text(at(row, 'createdAt'));
  const ms = nanos === '' ? Date.parse(text(at(row, 'created'))) : Number(nanos) / 1e6;
  return ms > 0 ? ms : undefined;
}

const createdAgo: Field = (row, nowMs) => {
  const ms = createdMs(row);
  return ms === undefined ? undefined : humanAgo(BigInt(Math.trunc(ms)) * 1_000_000n, nowMs);
};

function bytes(json: Json | undefined): string | undefined {
  const digits = typeof json === 'object' ? text(at(json, 'value')) : String(json ?? '');
  return /^\d+$/.test(digits) ? humanSize(BigInt(digits), 3) : undefined;
}

function state(row: Json): string {
  return text(at(row, 'state'))
    .replace(/^(CONTAINER|SANDBOX)_/, '')
    .toLowerCase();
}

function status(row: Json, nowMs: number): string | undefined {
  const name = state(row);
  if (name !== 'running') return name === '' ? undefined : `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return `Up ${humanDuration(nowMs - (createdMs(row) ?? nowMs))}`;
}

function labels(row: Json): string | undefined {
  const map = at(row, 'labels');
  if (typeof map !== 'object' || map === null) return undefined;
  const pairs = Object.entries(map as JsonObject).toSorted(([a], [b]) => compare(a, b));
  return pairs.map(([key, value]) => `${key}=${text(value)}`).join(',');
}

function named(row: Json): {readonly repo: string; readonly tag: string} | undefined {
  const [tags, digests] = ['repoTags', 'repoDigests'].map((key) => at(row, key));
  if (!Array.isArray(tags) || !Array.isArray(digests)) return undefined;
  return toNamedImage({repoDigests: digests as string[]}, (tags as string[])[0]);
}

/** Text of a measurement that an object of its kind has, but not this one, such as an exited container. */
const NO_VALUE = '--';

function cpuPercent(row: Json): string | undefined {
  if (at(row, 'attributes') === undefined) return undefined;
  const cores = text(at(row, 'cpu', 'usageNanoCores', 'value'));
  return cores === '' ? NO_VALUE : `${(Number(cores) / 1e7).toFixed(2)}%`;
}

function memoryUsage(row: Json): string | undefined {
  if (at(row, 'attributes') === undefined) return undefined;
  return bytes(at(row, 'memory', 'workingSetBytes')) ?? NO_VALUE;
}

/** Returns a size, which is null in rows without one. */
function sizeOf(row: Json, key: string): string | undefined {
  const size = at(row, key);
  return size === null ? NO_VALUE : bytes(size);
}

/** Fields of docker's --format, with what rows of the CRI have for them. Their texts are those of tables. */
const DOCKER_FIELDS: Readonly<Record<string, Field>> = {
  ID: (row) => {
    const id = firstOf(text(at(row, 'id')), text(at(row, 'attributes', 'id')));
    return id === undefined ? undefined : truncateId(id);
  },
  Container: (row) => firstOf(text(at(row, 'attributes', 'id'))),
  Name: (row) => firstOf(text(at(row, 'metadata', 'name')), text(at(row, 'attributes', 'metadata', 'name'))),
  Names: (row) => firstOf(text(at(row, 'metadata', 'name'))),
  Namespace: (row) =>
    firstOf(text(at(row, 'metadata', 'namespace')), text(at(row, 'labels', 'io.kubernetes.pod.namespace'))),
  Pod: podName,
  Image: (row) => {
    const image = firstOf(text(at(row, 'image', 'userSpecifiedImage')), text(at(row, 'image', 'image')));
    return image === undefined ? undefined : truncateDigest(image);
  },
  State: (row) => firstOf(state(row)),
  Status: status,
  CreatedAt: (row) => {
    const ms = createdMs(row);
    return ms === undefined ? undefined : new Date(ms).toISOString();
  },
  CreatedSince: createdAgo,
  RunningFor: createdAgo,
  Labels: labels,
  Repository: (row) => named(row)?.repo,
  Tag: (row) => named(row)?.tag,
  Digest: (row) => {
    const digests = at(row, 'repoDigests');
    return Array.isArray(digests) ? ((digests as string[])[0]?.replace(/^.*@/, '') ?? '<none>') : undefined;
  },
  Size: (row) => sizeOf(row, 'size') ?? sizeOf(row, 'sizeBytes'),
  CPUPerc: cpuPercent,
  MemUsage: memoryUsage,
  CreatedBy: (row) => firstOf(text(at(row, 'createdBy'))),
  Comment: (row) => (at(row, 'createdBy') === undefined ? undefined : text(at(row, 'comment'))),
  Type: (row) => firstOf(text(at(row, 'type'))),
  TotalCount: (row) => countOf(at(row, 'total')),
  Active: (row) => countOf(at(row, 'active')),
  Reclaimable: (row) => sizeOf(row, 'reclaimableBytes'),
};

function countOf(json: Json | undefined): string | undefined {
  return typeof json === 'number' ? String(json) : undefined;
}

/**
 * Returns a row that also has docker's fields, as far as it has what they show. They are not part of its JSON, and never
 * replace its own fields.
 */
export function withDockerFields(row: Json, nowMs: number): Json {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return row;
  const extended = {...(row as JsonObject)};
  for (const [name, field] of Object.entries(DOCKER_FIELDS)) {
    if (Object.hasOwn(extended, name)) continue;
    const value = field(row, nowMs);
    if (value !== undefined) Object.defineProperty(extended, name, {value, enumerable: false});
  }
  return extended;
}

/** Returns a row for each tag of images if the template names repositories or tags, as in docker. */
export function withRowPerTag(rows: readonly Json[], template: string): readonly Json[] {
  if (!/\.(Repository|Tag)\b/.test(template)) return rows;
  return rows.flatMap((row) => {
    const tags = at(row, 'repoTags');
    if (!Array.isArray(tags) || tags.length < 2) return [row];
    return (tags as readonly Json[]).map((tag) => ({...(row as JsonObject), repoTags: [tag]}));
  });
}
