import {
  toJson,
  type ContainerStatus,
  type ContainerStatusResponse,
  type ImageStatusResponse,
  type PodSandboxStatusResponse,
  type StatusResponse,
} from '../../cri/index.js';
import {parseJson, omitNulls, type Json, type JsonObject} from '../../format/json.js';
import {formatRfc3339Nano, ZERO_TIME} from '../../format/time.js';

type Info = Readonly<Record<string, string>>;

/** Returns a container as `inspect` shows it: the status with RFC 3339 times, and the verbose info. */
export function containerStatusJson({status, info}: ContainerStatusResponse): JsonObject {
  if (status === undefined) return infoJson(info);
  return {
    ...infoJson(info),
    status: {
      ...topLevel(toJson('ContainerStatus', status, {emitDefaults: true})),
      createdAt: formatRfc3339Nano(status.createdAt),
      startedAt: startedAt(status),
      finishedAt: finishedAt(status),
    },
  };
}

function startedAt({state, startedAt: nanos}: ContainerStatus): string {
  return state === 'CONTAINER_CREATED' ? ZERO_TIME : formatRfc3339Nano(nanos);
}

function finishedAt({state, finishedAt: nanos}: ContainerStatus): string {
  const finished = state === 'CONTAINER_EXITED' || (state === 'CONTAINER_UNKNOWN' && nanos > 0n);
  return finished ? formatRfc3339Nano(nanos) : ZERO_TIME;
}

/** Returns a sandbox as `inspectp` shows it. */
export function sandboxStatusJson({status, info}: PodSandboxStatusResponse): JsonObject {
  if (status === undefined) return infoJson(info);
  const json = topLevel(toJson('PodSandboxStatus', status, {emitDefaults: true}));
  return {...infoJson(info), status: {...json, createdAt: formatRfc3339Nano(status.createdAt)}};
}

/** Returns an image as `inspecti` shows it. */
export function imageStatusJson({image, info}: ImageStatusResponse): JsonObject {
  return {...infoJson(info), status: omitNulls(toJson('Image', image ?? {}, {emitDefaults: true}))};
}

/**
 * Returns the runtime status as `info` shows it; handlers and features have the keys of the .proto file, as in crictl.
 */
export function runtimeStatusJson({status, info, runtimeHandlers, features}: StatusResponse): JsonObject {
  const handlers = runtimeHandlers.map((handler) => toJson('RuntimeHandler', handler, {names: 'proto'}));
  return {
    ...infoJson(info),
    status: omitNulls(toJson('RuntimeStatus', status ?? {}, {emitDefaults: true})),
    ...(handlers.length === 0 ? {} : {runtimeHandlers: handlers}),
    ...(features === undefined ? {} : {features: toJson('RuntimeFeatures', features, {names: 'proto'})}),
  };
}

/** Adds null for absent top-level fields of a status, as crictl does. */
function topLevel(json: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, omitNulls(value)]));
}

/** Parses the verbose info: JSON objects are parsed, other values are strings without quotes. */
function infoJson(info: Info): JsonObject {
  return Object.fromEntries(Object.entries(info).map(([key, value]) => [key, infoValue(value)]));
}

function infoValue(value: string): Json {
  if (value.startsWith('{')) {
    try {
      return parseJson(value);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return value.replace(/^"+|"+$/g, '');
}
