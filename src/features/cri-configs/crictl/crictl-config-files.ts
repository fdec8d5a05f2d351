import type {CommandStrategies} from '../../../cli/dialect/command-strategies.js';
import type {ConfigFileStrategy} from '../cri-config-reader.js';
import {CRICTL_CONFIG_MESSAGES} from './crictl-config-messages.js';
import {withErrorContext} from '../../lists/crictl-lists.js';

/** Config file handling of crictl. */
export const CRICTL_CONFIG_FILES: ConfigFileStrategy = {
  messages: CRICTL_CONFIG_MESSAGES,
  withErrorContext,
  readsTwice: true,
  readsStdin: false,
};

/** Schemas as in crictl, which shows its help unless a schema is selected. */
export const CRICTL_SCHEMA: CommandStrategies['jsonschema'] = {crictl: true, requiresSelection: true};
