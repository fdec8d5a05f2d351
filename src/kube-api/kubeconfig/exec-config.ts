import {dirname, resolve} from 'node:path';
import type {KubeconfigExec} from './kubeconfig-schema.js';

/** Program that provides credentials (clientcmd api.ExecConfig). */
export interface ExecConfig {
  /** Field of the kubeconfig, for messages. */
  readonly field: string;
  /** Path of the program, or a name that is looked up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables in addition to those of the kubelet. */
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  readonly installHint: string;
  readonly provideClusterInfo: boolean;
}

const API_VERSIONS: readonly string[] = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
];
const INTERACTIVE_MODES: readonly string[] = ['Never', 'IfAvailable', 'Always'];

/** Options of {@link readExec}. */
export interface ReadExecOptions {
  /** Path of the user in the kubeconfig, such as `users[me]`. */
  readonly at: string;
  /** The kubeconfig, to whose directory paths are relative. */
  readonly file: string;
  readonly fail: (message: string, hint: string) => never;
}

/** Returns the plugin of a user; calls `fail` for invalid fields (clientcmd validateAuthInfo). */
export function readExec(exec: KubeconfigExec, {at, file, fail}: ReadExecOptions): ExecConfig {
  const field = `${at}.exec`;
  const {
    command = '',
    args = [],
    env = [],
    apiVersion = '',
    installHint = '',
    provideClusterInfo = false,
  } = exec;
  if (command === '')
    return fail(`${field}.command: Required value`, 'set the program that prints credentials');
  if (!API_VERSIONS.includes(apiVersion))
    return fail(
      `${field}.apiVersion: Unsupported value: ${JSON.stringify(apiVersion)}`,
      `set it to one of: ${API_VERSIONS.join(', ')}`,
    );
  checkInteractiveMode(exec, {field, fail});
  const unnamed = env.findIndex(({name = ''}) => name === '');
  if (unnamed !== -1)
    return fail(`${field}.env[${unnamed}].name: Required value`, 'name the variable, or remove it');
  return {
    field,
    // As in clientcmd, only paths are relative to the kubeconfig.
    command: command.includes('/') ? resolve(dirname(file), command) : command,
    args,
    env: Object.fromEntries(env.map(({name = '', value = ''}) => [name, value])),
    ...{apiVersion, installHint, provideClusterInfo},
  };
}

function checkInteractiveMode(
  {interactiveMode, apiVersion}: KubeconfigExec,
  {field, fail}: Pick<ReadExecOptions, 'fail'> & {readonly field: string},
): void {
  const mode = interactiveMode ?? '';
  if (mode === '' && apiVersion === API_VERSIONS[0])
    fail(`${field}.interactiveMode: Required value`, 'set it to Never or IfAvailable');
  if (mode !== '' && !INTERACTIVE_MODES.includes(mode))
    fail(
      `${field}.interactiveMode: Unsupported value: ${JSON.stringify(mode)}`,
      `set it to one of: ${INTERACTIVE_MODES.join(', ')}`,
    );
  if (mode === 'Always')
    fail(
      `${field}.interactiveMode: Always cannot be satisfied by a kubelet`,
      'use a plugin that needs no input',
    );
}
