import {sortedJson} from './sorted-json.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** Maps of messages of CSI drivers, which the recordings leave out when they are empty. */
const MAPS = new Set(['secrets', 'volume_context', 'publish_context']);

/** An entry of a recorded plugin: a call of the kubelet, a call of the plugin, or another event. */
export interface PluginEntry {
  readonly method?: string;
  readonly client?: string;
  readonly event?: string;
  readonly req?: JsonObject;
  readonly resp?: JsonObject;
  /** gRPC code and text of a call that failed. */
  readonly code?: string;
  readonly error?: string;
}

/** A call of the kubelet: method and request, without zero values. */
export type CanonicalPluginCall = readonly [method: string, request: unknown];

/** A plugin that a case plays. */
export interface PlayedPlugin {
  readonly calls: readonly CanonicalPluginCall[];
  start(): Promise<void>;
  stop(): Promise<void>;
  control(command: string): Promise<void>;
}

/** Returns a message without zero values, with lists of messages sorted, as the recordings have them. */
export function canonicalMessage(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(canonicalMessage);
    if (items.every((item) => typeof item !== 'object')) return items;
    return items.toSorted((a, b) => (sortedJson(a) < sortedJson(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  const isSet = (name: string, field: unknown): boolean =>
    !isZero(field) && !(MAPS.has(name) && Object.keys(field as object).length === 0);
  const fields = Object.entries(value).filter(([name, field]) => isSet(name, field));
  return Object.fromEntries(fields.map(([name, field]) => [name, canonicalMessage(field)]));
}

function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return [null, undefined, '', '0', 0, false].includes(value as null);
}
