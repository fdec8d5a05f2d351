import type {ContainerAllocateResponse} from '../../../../plugin-api/gen/device-plugin/types.js';
import type {PreferenceQuestion} from './select-devices.js';

/** Calls of a device plugin. They reject with CriError, or with SystemError for an answer that cannot be used. */
export interface PluginCalls {
  /** True if containers must not start before PreStartContainer. */
  readonly needsPreStart: boolean;
  /** Resolves with the devices that the plugin prefers; undefined for a plugin without preferences. */
  readonly getPreferred: ((question: PreferenceQuestion) => Promise<readonly string[]>) | undefined;
  readonly allocate: (ids: readonly string[]) => Promise<ContainerAllocateResponse>;
  readonly preStart: (ids: readonly string[]) => Promise<void>;
}
