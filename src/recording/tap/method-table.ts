import type {MethodInfo} from '../../cri/call-options.js';
import {IMAGE_METHODS, RUNTIME_METHODS} from '../../cri/gen/services.js';
import type {MessageName} from '../../cri/gen/schema.js';

/** Method of a call. `info` is undefined for a method that is not of the CRI. */
export interface CallMethod {
  /** Full name of the service, such as `runtime.v1.RuntimeService`. */
  readonly service: string;
  readonly name: string;
  readonly info: MethodInfo<MessageName> | undefined;
}

const SERVICES: Readonly<Record<string, Readonly<Record<string, MethodInfo<MessageName>>>>> = {
  'runtime.v1.RuntimeService': RUNTIME_METHODS,
  'runtime.v1.ImageService': IMAGE_METHODS,
};

const byPath: ReadonlyMap<string, CallMethod> = new Map(
  Object.entries(SERVICES).flatMap(([service, methods]) =>
    Object.values(methods).map((info): [string, CallMethod] => [
      `/${service}/${info.rpc}`,
      {service, name: info.rpc, info},
    ]),
  ),
);

/** Returns the method of a request's path. */
export function methodOf(path: string): CallMethod {
  const known = byPath.get(path);
  if (known !== undefined) return known;
  const [, service = '', name = ''] = /^\/(.*)\/([^/]*)$/.exec(path) ?? [undefined, '', path];
  return {service, name, info: undefined};
}

/** Methods that answer with the URL of a session. */
const SESSION_METHODS: ReadonlySet<MethodInfo<MessageName>> = new Set([
  RUNTIME_METHODS.exec,
  RUNTIME_METHODS.attach,
  RUNTIME_METHODS.portForward,
]);

/** Reports whether the method of a request's path answers with the URL of a session. */
export function isSessionMethod(path: string): boolean {
  const {info} = methodOf(path);
  return info !== undefined && SESSION_METHODS.has(info);
}
