import {EXIT} from '../../exit-codes.js';
import type {CommandStrategies} from '../../command-strategies.js';

/*
 * Strategies without code of their own.
 */

/** Attach as in crictl, which succeeds regardless of the container's exit code. */
export const CRICTL_ATTACH: CommandStrategies['attach'] = {
  context: () => 'attaching running container failed',
  exitCode: async () => await Promise.resolve(EXIT.ok),
};

/** Returns a function that passes the path to the runtime unchanged for each container, as crictl does. */
export const crictlCheckpoint: CommandStrategies['checkpoint'] = (path) => () => path;

/** Schemas as in crictl, which shows its help unless a schema is selected. */
export const CRICTL_SCHEMA: CommandStrategies['jsonschema'] = {crictl: true, requiresSelection: true};

/** Stop as in crictl. */
export const CRICTL_STOP: CommandStrategies['stop'] = {
  listContext: 'listing containers: call list containers RPC',
};

/** Run as in crictl, only with config files. */
export const CRICTL_RUN: CommandStrategies['run'] = {acceptsImages: false};
