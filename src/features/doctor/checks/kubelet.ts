import {counted} from '../../../base/counted.js';
import {shellQuote} from '../../../base/shell-quote.js';
import {failure, judge, ok, skipped, textIn, warning, type Check} from '../check.js';

const DAY_MS = 86_400_000;
/** Time before the expiry of a certificate from which on it is a warning; a kubelet renews its own before. */
const SOON_MS = 14 * DAY_MS;
const RESTART = ['systemctl status kubelet', 'journalctl -u kubelet -n 50'];

/** Checks of the kubelet of the node, which may be kcri's own or another one. */
export const KUBELET_CHECKS: readonly Check[] = [
  {
    id: 'kubelet/process',
    title: 'process of the kubelet',
    examine: ({kubelet: {own, processes}}) =>
      judge([own, processes], (ofKcri, others) => {
        const found = [
          ...(ofKcri === null ? [] : [`kcri kubelet (PID ${ofKcri.pid})`]),
          ...others.map(({pid}) => `kubelet (PID ${pid})`),
        ];
        if (found.length === 0) return skipped('no kubelet runs; pods of kcri sync need none');
        if (others.length > 1)
          return warning(`${counted(others.length, 'process')} named kubelet run`, {
            details: found,
            remedy: ['ps -C kubelet -o pid,lstart,args'],
          });
        return ok(found.join(', '));
      }),
  },
  {
    id: 'kubelet/sync',
    title: 'what prevents the kubelet of kcri from syncing pods',
    examine: ({kubelet: {own}}) =>
      judge([own], (ofKcri) => {
        if (ofKcri === null) return skipped('no kubelet of kcri runs with this root directory');
        const {errors, pressures} = ofKcri;
        const remedy = [{kcri: ['get', 'kubelet']}];
        if (errors.length > 0) return failure('the kubelet cannot sync pods', {details: errors, remedy});
        if (pressures.length === 0) return ok('pods are synced');
        return warning(`the node is under ${pressures.join(' and ')}`, {
          remedy: [{kcri: ['describe', 'node']}],
        });
      }),
  },
  {
    id: 'kubelet/healthz',
    title: 'health of the kubelet',
    examine: ({kubelet: {healthz, config}}) =>
      judge([healthz], ({url, status}) => {
        if (status === 200) return ok(`${url} answers 200`);
        if (status === 0 && 'error' in config)
          return skipped(`nothing listens on ${url}, and the configured port is unknown`);
        if (status === 0) return failure(`nothing listens on ${url}`, {remedy: RESTART});
        return failure(`${url} answers ${status}`, {remedy: [`curl -s ${shellQuote(url)}`, ...RESTART]});
      }),
  },
  {
    id: 'kubelet/config',
    title: 'configuration of the kubelet',
    examine: ({kubelet: {config}}) =>
      judge([config], ({path, problems, ineffective}) => {
        const remedy = [`correct ${path} and restart the kubelet`];
        if (problems.length > 0) return failure(`${path} is invalid`, {details: problems, remedy});
        if (ineffective.length === 0) return ok(`${path} has only fields that kubelet 1.36 knows`);
        return warning(`${counted(ineffective.length, 'field')} in ${path} without effect`, {
          details: ineffective,
          remedy,
        });
      }),
  },
  {
    id: 'kubelet/certificates',
    title: 'expiry of the certificates of the kubelet',
    examine: ({kubelet: {certificates}, takenAt}) => {
      const known = certificates.flatMap(({path, fact}) => ('value' in fact ? [{path, ...fact.value}] : []));
      if (known.length === 0) {
        const [first] = certificates.flatMap(({fact}) => ('error' in fact ? [fact.error] : []));
        return skipped(first ?? 'no kubelet runs');
      }
      const left = (notAfter: string): number => Date.parse(notAfter) - Date.parse(takenAt);
      const soon = known.filter(({notAfter}) => left(notAfter) < SOON_MS);
      const details = soon.map(
        ({path, notAfter, subject}) => `${path} (${subject.replaceAll('\n', ', ')}): ${notAfter}`,
      );
      const remedy = ['journalctl -u kubelet | grep -i certificate', 'kubeadm certs check-expiration'];
      if (soon.length === 0)
        return ok(`${counted(known.length, 'certificate')}, none expires within ${SOON_MS / DAY_MS} days`);
      if (soon.some(({notAfter}) => left(notAfter) <= 0))
        return failure('a certificate of the kubelet has expired', {details, remedy});
      return warning('a certificate of the kubelet expires soon', {details, remedy});
    },
  },
  {
    id: 'kubelet/manifests',
    title: 'manifests of the kubelet of kcri',
    examine: ({kubelet: {own}}) =>
      judge([own], (ofKcri) => {
        if (ofKcri === null) return skipped('no kubelet of kcri runs with this root directory');
        const problems = ofKcri.manifestProblems;
        if (problems.length === 0) return ok('all manifests are valid');
        return failure(counted(problems.length, 'manifest problem'), {
          details: problems.map(({place, message}) => `${place}: ${message}`),
          remedy: problems.map(({place}) => `correct ${place}`),
        });
      }),
  },
  {
    id: 'kubelet/swap',
    title: 'swap and failSwapOn',
    examine: (snapshot) =>
      judge([snapshot.kubelet.config, textIn(snapshot, '/proc/swaps')], ({failSwapOn, path}, text) => {
        const areas = text.split('\n').slice(1);
        if (areas.length === 0) return ok('no swap');
        if (failSwapOn !== true)
          return ok(`${counted(areas.length, 'swap area')}, which the kubelet accepts`);
        return failure('swap is on, and the kubelet does not start with it (failSwapOn)', {
          details: areas.map((line) => line.replace(/\s+/g, ' ')),
          remedy: ['swapoff -a', `set failSwapOn: false in ${path}`],
        });
      }),
  },
];
