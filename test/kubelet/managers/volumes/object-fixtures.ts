import type {ApiObject} from '../../../../src/api/types/v1-objects.js';
import {createApiObjects, type ApiObjects} from '../../../../src/kubelet/contract/api-objects.js';

/** Creates the ConfigMap `settings` with `data` and, from texts, `binaryData`. */
export function aConfigMap(
  data: Readonly<Record<string, string>>,
  binary: Readonly<Record<string, string>> = {},
): ApiObject {
  const bytes = Object.entries(binary).map(([key, text]) => [key, Buffer.from(text)]);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: 'settings', namespace: 'default'},
    data,
    binaryData: Object.fromEntries(bytes) as Record<string, Uint8Array>,
  };
}

/** Creates the Secret `keys`. */
export function aSecret(data: Readonly<Record<string, string>>): ApiObject {
  const bytes = Object.entries(data).map(([key, text]) => [key, Buffer.from(text)]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'keys', namespace: 'default'},
    data: Object.fromEntries(bytes) as Record<string, Uint8Array>,
  };
}

/** Creates the API objects that pods can refer to. */
export function objects(...all: readonly ApiObject[]): ApiObjects {
  return createApiObjects(all, ['pod.yaml']);
}

/** The ConfigMap `settings` and the Secret `keys`. */
export const OBJECTS = objects(
  aConfigMap({a: '1', b: '2'}, {bytes: '\xff'}),
  aSecret({password: 'hunter2', user: 'me'}),
);
