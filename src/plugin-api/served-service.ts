import type {Init, MethodInfo} from '../cri/call-options.js';
import {SchemaSet} from '../cri/message-schema.js';
import {DEVICE_SCHEMAS} from './device-messages.js';
import {REGISTRATION_METHODS} from './gen/device-plugin/services.js';
import type {MessageTypes as DeviceTypes} from './gen/device-plugin/types.js';
import * as podSchema from './gen/pod-resources/schema.js';
import {PODRESOURCESLISTER_METHODS} from './gen/pod-resources/services.js';
import type {MessageTypes as PodTypes} from './gen/pod-resources/types.js';
import * as alphaSchema from './gen/pod-resources-v1alpha1/schema.js';
import {PODRESOURCESLISTER_METHODS as ALPHA_METHODS} from './gen/pod-resources-v1alpha1/services.js';
import type {MessageTypes as AlphaTypes} from './gen/pod-resources-v1alpha1/types.js';

/** A call that a service answers. */
export interface ServedCall {
  /** Aborts when the client has cancelled the call, or its connection is lost. */
  readonly signal: AbortSignal;
  /** Time until the client's deadline in ms; `Infinity` for none. */
  readonly timeoutMs: number;
}

/** A service of the kubelet, as a server needs it. Its methods are unary. */
export interface ServedService {
  /** Full name, such as `v1beta1.Registration`. */
  readonly name: string;
  readonly methods: Readonly<Record<string, MethodInfo>>;
  readonly schemas: SchemaSet;
  /** By method; a rejection is the call's status UNKNOWN with the error's message, as a Go error is. */
  readonly handlers: Readonly<Record<string, (request: never, call: ServedCall) => Promise<object>>>;
}

/** Handlers of the methods of a service, with the messages of its interface. */
type Handlers<Methods extends Readonly<Record<string, MethodInfo>>, Types> = {
  readonly [Key in keyof Methods]: (
    request: Types[Methods[Key]['request'] & keyof Types],
    call: ServedCall,
  ) => Promise<Init<Types[Methods[Key]['response'] & keyof Types]>>;
};

export type RegistrationHandlers = Handlers<typeof REGISTRATION_METHODS, DeviceTypes>;
export type PodResourcesHandlers = Handlers<typeof PODRESOURCESLISTER_METHODS, PodTypes>;
export type AlphaPodResourcesHandlers = Handlers<typeof ALPHA_METHODS, AlphaTypes>;

/** Returns the service with which device plugins register. */
export function registrationService(handlers: RegistrationHandlers): ServedService {
  return {name: 'v1beta1.Registration', methods: REGISTRATION_METHODS, schemas: DEVICE_SCHEMAS, handlers};
}

/** Returns the pod resources service, version 1. */
export function podResourcesService(handlers: PodResourcesHandlers): ServedService {
  const schemas = schemasOf(podSchema);
  return {name: 'v1.PodResourcesLister', methods: PODRESOURCESLISTER_METHODS, schemas, handlers};
}

/** Returns the pod resources service, version 1alpha1. */
export function alphaPodResourcesService(handlers: AlphaPodResourcesHandlers): ServedService {
  const schemas = schemasOf(alphaSchema);
  return {name: 'v1alpha1.PodResourcesLister', methods: ALPHA_METHODS, schemas, handlers};
}

function schemasOf({
  MESSAGES,
  ENUMS,
}: {
  readonly MESSAGES: Readonly<Record<string, string>>;
  readonly ENUMS: Readonly<Record<string, string>>;
}): SchemaSet {
  return new SchemaSet({messages: MESSAGES, enums: ENUMS});
}
