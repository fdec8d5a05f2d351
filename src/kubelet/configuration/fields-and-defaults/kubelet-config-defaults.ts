import type {ConfigField, ValueOf} from '../config-field.js';
import {NODE_FIELDS} from './node-fields.js';
import {SERVER_FIELDS} from './server-fields.js';
import {SOURCE_FIELDS} from './source-fields.js';

const FIELDS = {...SOURCE_FIELDS, ...SERVER_FIELDS, ...NODE_FIELDS};

/** Path of a field in a KubeletConfiguration: `maxPods`, `authentication.anonymous.enabled`. */
export type ConfigPath = keyof typeof FIELDS;

/** Values of all fields, with defaults applied. */
export type ConfigValues = {readonly [Path in ConfigPath]: ValueOf<(typeof FIELDS)[Path]>};

/** All fields of KubeletConfiguration and their defaults (kubelet.config.k8s.io/v1beta1 of 1.36, defaults.go). */
export const CONFIG_FIELDS: Readonly<Record<ConfigPath, ConfigField>> = FIELDS as unknown as Readonly<
  Record<ConfigPath, ConfigField>
>;

export const CONFIG_PATHS = Object.keys(FIELDS) as readonly ConfigPath[];
