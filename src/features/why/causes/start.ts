import type {Finding} from '../finding.js';
import {explainMessage, quoteMessage, type MessagePattern} from './message-patterns.js';
import {nextStart} from './next-start.js';
import {describeAdvice, exitText, podTitle, titleOf, waitingOf, type ContainerSubject} from './subject.js';

/** Waiting reasons of containers that were created, but did not start. */
const WAITING: ReadonlySet<string> = new Set(['RunContainerError', 'StartError', 'ContainerCannotRun']);
/** Reasons of instances that ended before their program ran. */
const ENDED: ReadonlySet<string> = new Set(['StartError', 'ContainerCannotRun']);

const imageOf = ({status: {image}}: ContainerSubject): string => image;
const lookInside = (subject: ContainerSubject) => ({
  kcri: ['debug', `${podTitle(subject.snapshot)}/${subject.name}`],
});

/** Causes of failed starts, from what the OCI runtime says. */
const PATTERNS: readonly MessagePattern<ContainerSubject>[] = [
  {
    rule: 'command-not-found',
    pattern: /exec: "([^"]*)": executable file not found in \$PATH/,
    cause: ([, command = ''], subject) =>
      `command "${command}" of ${titleOf(subject)} is in no directory of $PATH in image ${imageOf(subject)}`,
    tries: () => ['correct command of the container, or use an image that has it'],
  },
  {
    rule: 'working-directory',
    pattern:
      /chdir to cwd \("([^"]*)"\)[^:]*: (.*?)(?:: unknown)?$|mkdir (\S+): (not a directory|file exists|permission denied|read-only file system)/m,
    cause: ([, cwd = '', why = '', made = '', whyMade = '']) =>
      `the working directory ${cwd === '' ? made : cwd} cannot be used: ${cwd === '' ? whyMade : why}`,
    tries: () => ['correct workingDir of the container, and the user that it runs as'],
  },
  {
    rule: 'command-missing',
    pattern: /exec: "([^"]*)": stat \S+: no such file or directory/,
    cause: ([, command = ''], subject) =>
      `command ${command} of ${titleOf(subject)} does not exist in image ${imageOf(subject)}`,
    tries: (_, subject) => ['correct command of the container', lookInside(subject)],
  },
  {
    rule: 'command-is-directory',
    pattern: /exec: "([^"]*)": is a directory/,
    cause: ([, command = ''], subject) => `command ${command} of ${titleOf(subject)} is a directory`,
    tries: () => ['correct command of the container'],
  },
  {
    rule: 'command-not-executable',
    pattern: /exec: "([^"]*)": permission denied/,
    cause: ([, command = ''], subject) =>
      `command ${command} of ${titleOf(subject)} is not executable for its user`,
    tries: () => [
      'chmod +x in the image, or run it with its interpreter; check runAsUser and the mount options of volumes',
    ],
  },
  {
    rule: 'exec-format',
    pattern: /exec format error/,
    cause: (_, subject) =>
      `the command of ${titleOf(subject)} is not a program that this node can run: it is built for another architecture, or a script without "#!"`,
    tries: () => ['compare the platform of the image with uname -m'],
  },
  {
    rule: 'loader-missing',
    pattern: /exec (\S+): no such file or directory/,
    cause: ([, command = '']) =>
      `${command} exists, but its interpreter or dynamic loader is missing in the image`,
    inferredFrom: 'the runtime found the file and the kernel did not find what runs it',
    tries: () => ['build the program statically, or use an image with its C library or interpreter'],
  },
  {
    rule: 'user-missing',
    pattern: /unable to find (user|group) ([^\s:]+)/,
    cause: ([, kind = '', name = ''], subject) =>
      `${kind} ${name} does not exist in image ${imageOf(subject)}`,
    tries: () => ['set runAsUser and runAsGroup to numbers, or correct USER of the image'],
  },
  {
    rule: 'mount-type',
    pattern:
      /error mounting "([^"]*)" to rootfs at "([^"]*)".*?: (not a directory|no such file or directory|[^:]+): unknown/,
    cause: ([, source = '', target = '', why = '']) => `${source} cannot be mounted at ${target}: ${why}`,
    tries: () => ['mount a directory on a directory and a file on a file; check subPath of the volumeMount'],
  },
  {
    rule: 'memory-too-low',
    pattern: /container init was OOM-killed|memory limit too low|unable to (?:set|apply) memory limit/,
    cause: (_, subject) => `the memory limit of ${titleOf(subject)} is too low even to start it`,
    tries: () => ['raise resources.limits.memory'],
  },
  {
    rule: 'apparmor',
    pattern: /apparmor[^:]*(?:: .*)?/i,
    cause: ([text = '']) => `AppArmor does not allow the start: ${text}`,
    tries: () => ['aa-status', 'check appArmorProfile of the container'],
  },
  {
    rule: 'seccomp',
    pattern: /seccomp[^:]*(?:: .*)?/i,
    cause: ([text = '']) => `the seccomp profile cannot be used: ${text}`,
    tries: () => ['check seccompProfile of the container and its file on the node'],
  },
  {
    rule: 'disk-full',
    pattern: /no space left on device/,
    cause: () => "the disk of the runtime's state or of the containers is full",
    tries: () => ['df -h', {kcri: ['system', 'df']}],
  },
  {
    rule: 'not-permitted',
    pattern: /([^:]+): (operation not permitted|permission denied)/,
    cause: ([, what = '', why = '']) => `the kernel does not allow the start: ${what.trim()}: ${why}`,
    tries: () => ['check securityContext: capabilities, privileged, sysctls and user namespaces'],
  },
];

/** Explains a container that was created, but whose program could not be started. */
export function explainStart(subject: ContainerSubject): Finding | undefined {
  const {name, exit, snapshot} = subject;
  const message = startError(subject);
  if (message === undefined) return undefined;
  const known = explainMessage(PATTERNS, message, subject) ?? {
    rule: 'start-other',
    cause: `the runtime could not start ${titleOf(subject)}`,
    tries: [describeAdvice(snapshot)],
  };
  const evidence = [
    ...(exit === undefined ? [] : [exitText(exit, snapshot)]),
    ...(message === '' ? [] : [quoteMessage(message)]),
  ];
  return {severity: 'problem', container: name, ...known, evidence, ...nextStart(subject)};
}

/** Returns what the runtime said about the failed start, maybe nothing; undefined if the start did not fail. */
function startError({status, exit}: ContainerSubject): string | undefined {
  const {reason, message} = waitingOf(status);
  if (WAITING.has(reason)) return message;
  return exit !== undefined && ENDED.has(exit.reason ?? '') ? (exit.message ?? '') : undefined;
}
