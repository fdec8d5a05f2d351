import type {Advice} from '../finding.js';
import {portInUse} from '../snapshot/wanted-holders.js';
import {holderText, isPort} from './holders.js';
import {explainMessage, type MessagePattern} from './message-patterns.js';
import {titleOf, type ContainerSubject} from './subject.js';

/** Causes that programs name in their last lines, as the C library and the usual runtimes of languages word them. */
const PATTERNS: readonly MessagePattern<ContainerSubject>[] = [
  {
    rule: 'library-missing',
    pattern:
      /error while loading shared libraries: ([^:]+): cannot open shared object file|Error loading shared library ([^:]+): No such file/,
    cause: ([, glibc = '', musl = ''], subject) =>
      `the library ${glibc === '' ? musl : glibc}, which ${titleOf(subject)} needs, is missing in image ${subject.status.image}`,
    tries: () => ['add the library to the image, or build the program statically'],
  },
  {
    rule: 'port-in-use',
    pattern: /(?:address already in use|EADDRINUSE)/i,
    cause: (_, subject) => `${titleOf(subject)} cannot listen on its port${ownerOfPort(subject)}`,
    tries: (_, subject) =>
      usesHostNetwork(subject) ? ['ss -lntup'] : ['give each container of the pod its own port'],
  },
  {
    rule: 'read-only-file-system',
    pattern: /read-only file ?system|EROFS/i,
    cause: (_, subject) => `${titleOf(subject)} writes to a file system that is read-only for it`,
    tries: () => [
      'mount an emptyDir where it writes; see readOnlyRootFilesystem and readOnly of its volumeMounts',
    ],
  },
  {
    rule: 'disk-full',
    pattern: /no space left on device|ENOSPC/i,
    cause: (_, subject) => `a disk or volume that ${titleOf(subject)} writes to is full`,
    tries: () => ['df -h', {kcri: ['system', 'df']}],
  },
  {
    rule: 'disk-quota',
    pattern: /disk quota exceeded|EDQUOT/i,
    cause: (_, subject) => `the disk quota of a volume that ${titleOf(subject)} writes to is used up`,
    tries: () => ['remove files of the volume, or raise its quota'],
  },
  {
    rule: 'open-files-limit',
    pattern: /too many open files|EMFILE|ENFILE/i,
    cause: (_, subject) => `${titleOf(subject)} has reached the limit of open files`,
    tries: () => ['raise the limit (ulimit -n) of the runtime, or find the files that it leaves open'],
  },
  {
    rule: 'process-limit',
    pattern:
      /fork: .*(?:resource temporarily unavailable|try again)|can't fork|unable to create (?:new )?(?:native )?thread/i,
    cause: (_, subject) => `${titleOf(subject)} has reached the limit of processes and threads`,
    tries: () => ['raise podPidsLimit of the kubelet, or find the processes that it leaves running'],
  },
  {
    rule: 'not-permitted',
    pattern: /operation not permitted|EPERM/i,
    cause: (_, subject) =>
      `the kernel does not permit an operation to ${titleOf(subject)}: a capability is missing, or seccomp or AppArmor denies it`,
    tries: () => ['check capabilities, seccompProfile and appArmorProfile of its securityContext'],
  },
  {
    rule: 'permission-denied',
    pattern: /permission denied|EACCES/i,
    cause: (_, subject) => `${titleOf(subject)} may not access a file or port`,
    tries: () => [
      'check runAsUser, fsGroup and the owners of its volumes; ports below 1024 need NET_BIND_SERVICE',
    ],
  },
  {
    rule: 'name-not-resolved',
    pattern:
      /could not resolve host:? (\S+)|lookup (\S+?)(?: on \S+)?: no such host|bad address '([^']+)'|getaddrinfo \w+ (\S+)|name or service not known/i,
    cause: ([, ...names], subject) => {
      const name = names.find((each) => each !== '');
      return `${titleOf(subject)} cannot resolve ${name === undefined ? 'the name of a host' : `the name ${name}`}`;
    },
    tries: (_, subject) => [`check dnsPolicy of the pod, and /etc/resolv.conf in ${titleOf(subject)}`],
  },
  {
    rule: 'peer-refuses',
    pattern: /connection refused|ECONNREFUSED/i,
    cause: (_, subject) => `a server that ${titleOf(subject)} connects to does not listen`,
    tries: () => ['check that the server runs, and its address; wait for it in an init container'],
  },
];

/** Number of lines that are searched: earlier ones may be of another failure, which the program survived. */
const LINES = 3;

/** A cause that a line of the log names. */
export interface LogCause {
  readonly rule: string;
  readonly cause: string;
  readonly inferredFrom: string;
  readonly tries: readonly Advice[];
}

/** Returns the cause that the last lines of a container name, the last line first; undefined if none does. */
export function explainLog(subject: ContainerSubject): LogCause | undefined {
  for (const line of (subject.facts.log ?? []).slice(-LINES).toReversed()) {
    const found = explainMessage(PATTERNS, line, subject);
    if (found !== undefined)
      return {...found, cause: `${found.cause}: ${line}`, inferredFrom: 'its log, before it ended by itself'};
  }
  return undefined;
}

/** Returns words about the process that uses the port. Which one it is can be read only for pods with hostNetwork. */
function ownerOfPort(subject: ContainerSubject): string {
  if (!usesHostNetwork(subject)) return ': another process of the pod does';
  const [port] = (subject.facts.log ?? []).flatMap(portInUse);
  const owner = port === undefined ? '' : holderText(subject.snapshot, isPort(port));
  return owner === ''
    ? ': another process of the pod, or of the node, whose network it uses, does'
    : `, which is used${owner}`;
}

function usesHostNetwork({snapshot}: ContainerSubject): boolean {
  return snapshot.pod.spec.hostNetwork === true;
}
