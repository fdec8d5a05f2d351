import type {ConfigField, ValueOf} from './field.js';
import {NODE_FIELDS} from './fields-node.js';
import {SERVER_FIELDS} from './fields-server.js';
import {SOURCE_FIELDS} from './fields-sources.js';

const FIELDS = {...SOURCE_FIELDS, ...SERVER_FIELDS, ...NODE_FIELDS};

/** A field by its place in a KubeletConfiguration: `maxPods`, `authentication.anonymous.enabled`. */
export type ConfigPath = keyof typeof FIELDS;

/** What each field says, with its default when nobody says anything. */
export type ConfigValues = {readonly [Path in ConfigPath]: ValueOf<(typeof FIELDS)[Path]>};

/** Every field of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1 of 1.36). */
export const CONFIG_FIELDS: Readonly<Record<ConfigPath, ConfigField>> = FIELDS as unknown as Readonly<
  Record<ConfigPath, ConfigField>
>;

export const CONFIG_PATHS = Object.keys(FIELDS) as readonly ConfigPath[];
