import {shellQuote} from '../../../base/shell-quote.js';
import type {Finding} from '../finding.js';
import {explainMessage, quoteMessage, type MessagePattern} from './message-patterns.js';
import {nextStart} from './next-start.js';
import {describeAdvice, titleOf, waitingOf, type ContainerSubject} from './subject.js';

const REASONS: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

const pull = ({status: {image}}: ContainerSubject) => ({kcri: ['pull', image]});
const registryOf = ({status: {image}}: ContainerSubject): string => {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(first) ? first : 'registry-1.docker.io';
};

/** Causes of failed pulls, from what the runtime and the registry say. */
const PATTERNS: readonly MessagePattern<ContainerSubject>[] = [
  {
    rule: 'image-never-pulled',
    pattern: /is not present with pull policy of Never/,
    cause: (_, {status}) => `image ${status.image} is not on the node, and imagePullPolicy is Never`,
    tries: (_, subject) => [pull(subject), 'or set imagePullPolicy to IfNotPresent'],
  },
  {
    rule: 'image-name-invalid',
    pattern: /couldn't parse image|invalid reference format|Failed to apply default image tag/,
    cause: (_, {status}) => `"${status.image}" is not a valid image name`,
    tries: () => ['correct the image in the manifest'],
  },
  {
    rule: 'image-rate-limit',
    pattern: /429 Too Many Requests|toomanyrequests|rate limit/i,
    cause: (_, subject) =>
      `registry ${registryOf(subject)} refuses more pulls from this node for now (rate limit)`,
    tries: () => ['add imagePullSecrets of an account with a higher limit, or use a mirror of the registry'],
  },
  {
    rule: 'image-proxy',
    pattern: /proxyconnect [^:]*:.*|Proxy Authentication Required/,
    cause: ([text = '']) => `the proxy of the runtime does not forward the request: ${text}`,
    tries: () => ["check HTTPS_PROXY and NO_PROXY in the environment of the runtime's service"],
  },
  {
    rule: 'image-tls',
    pattern: /(?:tls: |x509: )[^\n]*|server gave HTTP response to HTTPS client/,
    cause: ([text = ''], subject) =>
      `the runtime does not trust the registry ${registryOf(subject)}: ${text}`,
    tries: (_, subject) => [
      `add the CA of the registry to the runtime, for containerd in /etc/containerd/certs.d/${registryOf(subject)}/hosts.toml`,
    ],
  },
  {
    rule: 'image-dns',
    pattern: /lookup (\S+?)(?: on (\S+))?: (no such host|[^:\n]*timeout[^:\n]*|server misbehaving|[^:\n]+)/,
    cause: ([, host = '', server = '', why = '']) =>
      `the node cannot resolve the registry's name ${host}: ${why}${server === '' ? '' : `, says DNS server ${server}`}`,
    tries: ([, host = '']) => [
      `getent hosts ${shellQuote(host)}`,
      'check the image name and /etc/resolv.conf of the node',
    ],
  },
  {
    rule: 'image-platform',
    pattern: /no match for platform[^:\n]*|no matching manifest for (\S+)/,
    cause: (_, {status}) => `image ${status.image} does not exist for the platform of this node`,
    tries: () => ['build or choose an image for this architecture (uname -m)'],
  },
  {
    rule: 'image-denied',
    pattern:
      /401 Unauthorized|403 Forbidden|pull access denied|authorization failed|insufficient_scope|no basic auth credentials|unauthorized|denied: /i,
    cause: (_, subject) =>
      `registry ${registryOf(subject)} denies access to ${subject.status.image}: the repository does not exist, or needs other credentials`,
    tries: () => ['check imagePullSecrets of the pod and the name of the repository'],
  },
  {
    rule: 'image-not-found',
    pattern: /: not found|manifest unknown|NAME_UNKNOWN|404 Not Found/i,
    cause: (_, subject) =>
      `image ${subject.status.image} does not exist in the registry ${registryOf(subject)}`,
    tries: () => ['correct name and tag of the image'],
  },
  {
    rule: 'image-unreachable',
    pattern:
      /dial tcp (\S+): (?:connect: )?(connection refused|i\/o timeout|no route to host|network is unreachable)/,
    cause: ([, address = '', why = '']) => `the node cannot connect to the registry at ${address}: ${why}`,
    tries: (_, subject) => [
      `curl -v ${shellQuote(`https://${registryOf(subject)}/v2/`)}`,
      'check firewall, proxy and routes of the node',
    ],
  },
  {
    rule: 'image-disk-full',
    pattern: /no space left on device/,
    cause: () => 'the disk of the images is full',
    tries: () => [{kcri: ['imagefsinfo']}, {kcri: ['system', 'prune']}],
  },
  {
    rule: 'image-slow',
    pattern: /context deadline exceeded|DeadlineExceeded|context canceled/,
    cause: (_, {status}) => `pulling ${status.image} took longer than the runtime allows`,
    tries: (_, subject) => [pull(subject)],
  },
];

/** Explains a container whose image cannot be pulled. */
export function explainImage(subject: ContainerSubject): Finding | undefined {
  const {name, status, snapshot} = subject;
  const {reason, message} = waitingOf(status);
  if (!REASONS.has(reason)) return undefined;
  const known = explainMessage(PATTERNS, message, subject) ?? {
    rule: 'image-other',
    cause: `${titleOf(subject)} has no image: ${reason}`,
    tries: [pull(subject), describeAdvice(snapshot)],
  };
  const evidence = message === '' ? [reason] : [reason, quoteMessage(message)];
  return {severity: 'problem', container: name, ...known, evidence, ...nextStart(subject, 'is pulled')};
}
