import type {ScopedFlags} from '../dialect/dialect.js';

const STREAMING = ['tls-skip-verify'];
const SESSION = [...STREAMING, 'detach-keys'];
const LIST = ['no-headers', 'reverse', 'sort', 'template'];
const CREDENTIALS = ['auth-file', 'no-auth-file'];

/** Flags that crictl's commands have only under kcri's name, in addition to those marked with kcriOnlyFlags. */
const KCRI_FLAGS: Readonly<Record<string, readonly string[]>> = {
  attach: SESSION,
  completion: ['breaks', 'line', 'suggest'],
  create: CREDENTIALS,
  events: ['container', 'label', 'namespace', 'pod', 'since', 'type'],
  exec: [...SESSION, 'env', 'user', 'workdir'],
  images: LIST,
  logs: ['no-prefix', 'since-time', 'until'],
  metricdescs: ['template'],
  metricsp: ['seconds', 'template'],
  pods: LIST,
  'port-forward': [...STREAMING, 'address'],
  ps: LIST,
  pull: CREDENTIALS,
  rmi: ['force'],
  run: CREDENTIALS,
  'runtime-config': ['output', 'template'],
  stats: LIST,
  statsp: LIST,
  update: ['cpus'],
};

/** Returns the flags of a command that crictl has too. */
export function withoutKcriFlags(command: string, flags: ScopedFlags): ScopedFlags {
  const others = Object.hasOwn(KCRI_FLAGS, command) ? KCRI_FLAGS[command] : undefined;
  return Object.fromEntries(
    Object.entries(flags).filter(
      ([name, {kcriOnly}]) => kcriOnly !== true && others?.includes(name) !== true,
    ),
  );
}
