import type {ConfigFileStrategy} from '../../input/cri-config-reader.js';
import {CRICTL_CONFIG_MESSAGES} from '../configs/crictl-config-messages.js';
import {withErrorContext} from '../crictl-lists.js';

/** Config file handling of crictl. */
export const CRICTL_CONFIG_FILES: ConfigFileStrategy = {
  messages: CRICTL_CONFIG_MESSAGES,
  withErrorContext,
  readsTwice: true,
  readsStdin: false,
};
