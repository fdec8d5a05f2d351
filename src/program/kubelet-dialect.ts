import {loadCommand} from '../cli/catalog/command-files.js';
import {GLOBAL_FLAGS} from '../cli/flags/global-flags.js';
import {KCRI_DIALECT, type Dialect, type ScopedFlags} from '../cli/dialect/dialect.js';
import {tokenize} from '../cli/parsing/tokenize.js';
import {ArgumentsError} from '../cli/parsing/usage-errors.js';
import {formatKubeletHelp, type DescribedCommand} from '../features/kubelet/kubelet-help.js';
import {createKlogReporter} from '../features/kubelet/klog-reporter.js';
import {omit} from '../base/omit.js';

/** The kubelet's dialect: one command, whose errors are lines of its log. Its flags are kcri's, and more than a kubelet's. */
export const KUBELET_DIALECT: Dialect = {
  ...KCRI_DIALECT,
  program: 'kubelet',
  tokenize: async (argv, {command, own, shared, flagsEndAfter}) => {
    if (command === undefined) return await Promise.resolve(tokenize(argv, own, shared, {flagsEndAfter}));
    const tokens = tokenize(argv, own, withoutLetters(shared));
    const [word] = tokens.positionals;
    if (word !== undefined) throw new ArgumentsError(`unknown command ${word}`);
    return tokens;
  },
  createReporter: createKlogReporter,
  helpText: async () => {
    const {default: command} = await loadCommand('kubelet');
    const {summary, description, flags} = command;
    const shown: DescribedCommand['flags'] = {...flags, 'root-dir': GLOBAL_FLAGS['root-dir']};
    return formatKubeletHelp({summary, description, flags: shown});
  },
};

/** Returns the flags without their letters, which a kubelet does not have. */
const withoutLetters = (flags: ScopedFlags): ScopedFlags =>
  Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, omit(flag, 'char')]));
