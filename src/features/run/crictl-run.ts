import type {CommandStrategies} from '../../cli/dialect/command-strategies.js';

/** Run as in crictl, only with config files. */
export const CRICTL_RUN: CommandStrategies['run'] = {acceptsImages: false};
