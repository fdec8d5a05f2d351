import {counted} from '../../../base/counted.js';
import {shellQuote} from '../../../base/shell-quote.js';
import {failure, judge, ok, warning, type Check} from '../check.js';
import {isMissing, valueOf} from '../fact.js';
import type {HttpAnswer} from '../node-snapshot.js';

const APPARMOR = '/sys/module/apparmor/parameters/enabled';
const WORLD_WRITABLE = 0o002;

const isOpen = ({status}: HttpAnswer): boolean => status === 200;

/** Checks of access to the node. */
export const SECURITY_CHECKS: readonly Check[] = [
  {
    id: 'security/runtime-socket',
    title: 'permissions of the socket of the runtime',
    examine: ({runtime: {endpoint, socket}}) =>
      judge([endpoint, socket], (address, {mode}) => {
        const path = address.replace(/^unix:\/\//, '');
        const octal = `0${(mode & 0o777).toString(8)}`;
        if ((mode & WORLD_WRITABLE) === 0) return ok(`${path} has mode ${octal}`);
        return failure(`${path} has mode ${octal}: every user who reaches it is root on this node`, {
          remedy: [`chmod o-rwx ${shellQuote(path)}`],
        });
      }),
  },
  {
    id: 'security/anonymous-kubelet',
    title: 'requests to the kubelet without credentials',
    examine: ({kubelet: {anonymous}}) =>
      judge([anonymous], (answer) =>
        isOpen(answer)
          ? failure(`${answer.url} answers without credentials`, {
              details: ['anyone who reaches the port can list pods, and may be able to run commands in them'],
              remedy: ['set authentication.anonymous.enabled: false in the configuration of the kubelet'],
            })
          : ok(
              answer.status === 0
                ? `nothing listens on ${answer.url}`
                : `${answer.url} answers ${answer.status} without credentials`,
            ),
      ),
  },
  {
    id: 'security/read-only-port',
    title: 'read-only port of the kubelet',
    examine: ({kubelet: {readOnly}}) =>
      judge([readOnly], (answer) =>
        isOpen(answer)
          ? failure(`${answer.url} lists pods without credentials`, {
              remedy: ['set readOnlyPort: 0 in the configuration of the kubelet'],
            })
          : ok(`${answer.url} does not list pods`),
      ),
  },
  {
    id: 'security/tokens',
    title: 'ServiceAccount tokens of pods',
    examine: ({podTokens, runtime: {sandboxes}, takenAt}) =>
      judge([podTokens, sandboxes], ({tokens, podsLeftOut}, pods) => {
        const names = new Map(pods.map(({uid, namespace, name}) => [uid, `${namespace}/${name}`]));
        const ofPods = tokens.flatMap((token) => {
          const pod = names.get(token.uid);
          return pod === undefined ? [] : [{...token, pod}];
        });
        const expired = ofPods.filter(({expiresAt}) => Date.parse(expiresAt) < Date.parse(takenAt));
        const leftOut = podsLeftOut === 0 ? '' : `; those of ${counted(podsLeftOut, 'pod')} were not read`;
        if (expired.length === 0) return ok(`${counted(ofPods.length, 'token')}, none has expired${leftOut}`);
        return warning(
          `${counted(expired.length, 'token')} of ${ofPods.length} ${expired.length === 1 ? 'has' : 'have'} expired: ` +
            `the kubelet does not renew them, and the API server refuses these pods${leftOut}`,
          {
            details: expired.map(({pod, path, expiresAt}) => `${pod}: ${path} expired at ${expiresAt}`),
            remedy: [
              'look in the log of the kubelet for TokenRequest, such as with "journalctl -u kubelet"',
              ...expired.slice(0, 3).map(({pod}) => ({kcri: ['why', pod]})),
            ],
          },
        );
      }),
  },
  {
    id: 'security/apparmor',
    title: 'AppArmor and its programs',
    examine: ({files, programs}) => {
      const enabled = (valueOf(files[APPARMOR] ?? {error: ''}) ?? '').trim();
      if (enabled !== 'Y') return ok('the kernel does not use AppArmor');
      const parser = programs['apparmor_parser'] ?? {error: 'apparmor_parser was not looked for'};
      if (!isMissing(parser)) return judge([parser], (path) => ok(`enabled, with ${path}`));
      return warning(
        'the kernel uses AppArmor, but apparmor_parser is missing: the runtime cannot load its profile',
        {
          remedy: ['apt-get install apparmor'],
        },
      );
    },
  },
];
