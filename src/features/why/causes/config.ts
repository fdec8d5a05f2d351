import type {Finding} from '../finding.js';
import {explainMessage, quoteMessage, type MessagePattern} from './message-patterns.js';
import {nextStart} from './next-start.js';
import {describeAdvice, titleOf, waitingOf, type ContainerSubject} from './subject.js';

const REASONS: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'PreCreateHookError',
  'PreStartHookError',
]);

const ADD_OBJECT = 'add it to the manifests, or set optional: true';

/** Causes of containers that cannot be created, from what the kubelet and the runtime say. */
const PATTERNS: readonly MessagePattern<ContainerSubject>[] = [
  {
    rule: 'object-missing',
    pattern: /(configmap|secret) "([^"]*)" not found/i,
    cause: ([, kind = '', name = ''], subject) =>
      `${titleOf(subject)} needs ${kind.toLowerCase() === 'secret' ? 'Secret' : 'ConfigMap'} ${name}, which does not exist`,
    tries: () => [ADD_OBJECT],
  },
  {
    rule: 'key-missing',
    pattern: /couldn't find key (\S+) in (ConfigMap|Secret) (\S+)/,
    cause: ([, key = '', kind = '', name = ''], subject) =>
      `${titleOf(subject)} needs key ${key} of ${kind} ${name}, which has no such key`,
    tries: () => ['add the key, correct its name, or set optional: true'],
  },
  {
    rule: 'run-as-non-root',
    pattern: /runAsNonRoot and image (?:will run as root|has non-numeric user \(([^)]*)\))/,
    cause: ([, user = ''], subject) =>
      user === ''
        ? `${titleOf(subject)} may not run as root (runAsNonRoot), and nothing says which other user`
        : `runAsNonRoot cannot be checked: USER of the image is the name ${user}, not a number`,
    tries: () => ['set runAsUser to a number other than 0'],
  },
  {
    rule: 'run-as-root',
    pattern: /runAsUser breaks non-root policy/,
    cause: (_, subject) => `${titleOf(subject)} has runAsNonRoot and runAsUser: 0`,
    tries: () => ['set runAsUser to a number other than 0'],
  },
  {
    rule: 'sub-path',
    pattern: /(?:failed to prepare|failed to create|invalid)?\s*sub[pP]ath[^:]*(?:: .*)?/,
    cause: ([text = ''], subject) => `a subPath of ${titleOf(subject)} cannot be used: ${text.trim()}`,
    tries: () => ['correct subPath of the volumeMount; it must stay inside the volume'],
  },
  {
    rule: 'no-command',
    pattern: /no command specified/,
    cause: (_, subject) => `neither ${titleOf(subject)} nor image ${subject.status.image} has a command`,
    tries: () => ['set command of the container'],
  },
  {
    rule: 'name-reserved',
    pattern: /failed to reserve container name "?([^":]+)"?.*reserved for "([^"]+)"/,
    cause: ([, , id = '']) =>
      `an earlier attempt to create the container, ${id.slice(0, 13)}, has not ended in the runtime`,
    tries: () => ['wait; if it stays, the runtime or its disk is overloaded', {kcri: ['ps', '-a']}],
  },
  {
    rule: 'host-path-missing',
    pattern:
      /failed to (?:stat|mkdir|generate)[^"]*"([^"]+)":.*(no such file or directory|not a directory|permission denied)/,
    cause: ([, path = '', why = '']) =>
      `a path of the node that the container mounts cannot be used: ${path}: ${why}`,
    tries: () => ['create the path on the node, or correct the hostPath volume'],
  },
  {
    rule: 'device-plugin-gone',
    pattern: /endpoint not found in cache for a registered resource: ([^\s,]+)/,
    cause: ([, resource = ''], subject) =>
      `${titleOf(subject)} has devices of ${resource}, whose plugin no longer runs`,
    tries: () => ['check the pod of the device plugin on this node'],
  },
  {
    rule: 'device-plugin-failed',
    pattern: /device plugin (\w+) rpc failed with err: (.*)/s,
    cause: ([, call = '', why = '']) => `the device plugin fails in ${call}: ${why.trim()}`,
    tries: () => ['check the log of the device plugin on this node'],
  },
  {
    rule: 'device-missing',
    pattern: /device plugin|(?:lstat|stat) (\/dev\/\S+): no such file/,
    cause: ([text = '', path = '']) => `a device is missing: ${path === '' ? text : path}`,
    tries: () => ['check the device and its plugin on the node'],
  },
];

/** Explains a container that cannot be created. */
export function explainConfig(subject: ContainerSubject): Finding | undefined {
  const {name, status, snapshot} = subject;
  const {reason, message} = waitingOf(status);
  if (!REASONS.has(reason)) return undefined;
  const known = explainMessage(PATTERNS, message, subject) ?? {
    rule: 'create-other',
    cause: `${titleOf(subject)} cannot be created: ${reason}`,
    tries: [describeAdvice(snapshot)],
  };
  const evidence = message === '' ? [reason] : [reason, quoteMessage(message)];
  return {severity: 'problem', container: name, ...known, evidence, ...nextStart(subject)};
}
