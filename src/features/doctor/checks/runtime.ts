import {medianOf} from '../../../base/compare.js';
import {counted} from '../../../base/counted.js';
import {shellQuote} from '../../../base/shell-quote.js';
import {RUNTIME_ADVICE} from '../../why/finding.js';
import {supportOf} from './runtime-support.js';
import {failure, judge, ok, skipped, warning, type Check, type Outcome} from '../check.js';
import {valueOf} from '../fact.js';

/** Duration of a call from which on it is slow, in ms: the kubelet expects answers to its lists every second. */
const SLOW_MS = 500;
/** Number of earlier durations that it takes to judge, and how much longer than usual is slow. */
const MIN_HISTORY = 5;
const SLOWER = 3;
const SLOWER_MS = 100;
const DAY_MS = 86_400_000;
/** Time before the end of support from which on it is a warning. */
const SOON_MS = 60 * DAY_MS;

/** Reports whether a call failed only because this user may not make it. */
const isDenied = (error: string, isRoot: boolean): boolean => !isRoot && /permission denied/i.test(error);

/** Checks of the container runtime. */
export const RUNTIME_CHECKS: readonly Check[] = [
  {
    id: 'runtime/reachable',
    title: 'socket of the runtime',
    examine: ({runtime: {endpoint, calls}, isRoot}) => {
      if ('error' in endpoint)
        return failure('no runtime was found', {details: [endpoint.error], remedy: RUNTIME_ADVICE});
      const version = calls.find(({rpc}) => rpc === 'Version');
      if (version?.error === undefined && version !== undefined) return ok(`${endpoint.value} answers`);
      const error = version?.error ?? 'no connection';
      if (isDenied(error, isRoot)) return skipped(`only root may connect to ${endpoint.value}`);
      return failure(`${endpoint.value} does not answer`, {details: [error], remedy: RUNTIME_ADVICE});
    },
  },
  {
    id: 'runtime/version',
    title: 'version of the runtime and the end of its support',
    examine: ({runtime: {version}, takenAt}) =>
      judge([version], ({name, version: text}) => {
        const support = supportOf(name, text);
        const runs = `${name} ${text}`;
        if (support === undefined)
          return skipped('the end of support of this version is not known to kcri', runs);
        const left = Date.parse(support) - Date.parse(takenAt);
        const remedy = [`upgrade ${name} to a version with support`];
        if (left < 0) return warning(`${runs} has had no support since ${support}`, {remedy});
        if (left < SOON_MS) return warning(`support of ${runs} ends on ${support}`, {remedy});
        return ok(`${runs}, supported until ${support}`);
      }),
  },
  {
    id: 'runtime/ready',
    title: 'conditions of the runtime',
    examine: ({runtime: {conditions}}) =>
      judge([conditions], (all) => {
        const bad = all.filter(({type, status}) => !status && /^(Runtime|Network)Ready$/.test(type));
        if (bad.length === 0) return ok(`${all.map(({type}) => type).join(' and ')} are true`);
        return failure(
          `${bad.map(({type}) => type).join(' and ')} ${bad.length === 1 ? 'is' : 'are'} false`,
          {
            details: bad.map(
              ({type, reason, message}) =>
                `${type}: ${[reason, message].filter((text) => text !== '').join(': ')}`,
            ),
            remedy: [{kcri: ['info']}, ...RUNTIME_ADVICE],
          },
        );
      }),
  },
  {
    id: 'runtime/latency',
    title: 'duration of calls',
    examine: ({runtime: {calls}, isRoot}) => {
      const answered = calls.filter(({error}) => error === undefined);
      const failed = calls.filter(({error}) => error !== undefined);
      if (failed.some(({error = ''}) => isDenied(error, isRoot)))
        return skipped('only root may call the runtime');
      if (calls.length === 0) return skipped('the runtime was not called');
      const details = [
        ...failed.map(({rpc, error = ''}) => `${rpc}: ${error.replace(`${rpc}: `, '')}`),
        ...answered.map(({rpc, ms}) => `${rpc}: ${ms} ms`),
      ];
      if (failed.length > 0)
        return failure(`${counted(failed.length, 'call')} of ${calls.length} failed`, {
          details,
          remedy: RUNTIME_ADVICE,
        });
      const slow = answered.filter(({ms}) => ms >= SLOW_MS);
      const slowest = Math.max(...answered.map(({ms}) => ms));
      if (slow.length === 0) return ok(`${counted(calls.length, 'call')}, the slowest took ${slowest} ms`);
      return warning(`${counted(slow.length, 'call')} took ${SLOW_MS} ms or more`, {
        details,
        remedy: ['cat /proc/pressure/io /proc/pressure/cpu'],
      });
    },
  },
  {
    id: 'runtime/latency-history',
    title: 'duration of calls against earlier ones',
    examine: ({runtime: {calls, history}}) =>
      judge([history], (earlier) => {
        const compared = calls.flatMap(({rpc, ms, error}) => {
          const usual = usualOf(earlier[rpc] ?? []);
          return error !== undefined || usual === undefined ? [] : [{rpc, ms, usual}];
        });
        if (compared.length === 0) return skipped(`the history has fewer than ${MIN_HISTORY} runs`);
        const slow = compared.filter(({ms, usual}) => ms > usual * SLOWER && ms - usual >= SLOWER_MS);
        if (slow.length === 0) return ok(`${counted(compared.length, 'call')} take as long as usual`);
        return warning(`${counted(slow.length, 'call')} took more than ${SLOWER} times as long as usual`, {
          details: slow.map(({rpc, ms, usual}) => `${rpc}: ${ms} ms, usually ${usual} ms`),
          remedy: ['cat /proc/pressure/io /proc/pressure/cpu'],
        });
      }),
  },
  {
    id: 'runtime/default-handler',
    title: 'default runtime handler',
    examine: ({runtime: {config, handlers: reported}}) =>
      judge([config, reported], ({defaultHandler, handlers = []}, names) => {
        if (defaultHandler === undefined) return ofReportedHandlers(names);
        if (handlers.includes(defaultHandler))
          return ok(`${defaultHandler}, of ${counted(handlers.length, 'handler')}`);
        return failure(`the default handler ${defaultHandler} is not configured`, {
          details: [`handlers: ${handlers.join(', ')}`],
          remedy: ['containerd config dump'],
        });
      }),
  },
  {
    id: 'runtime/cgroup-driver',
    title: 'cgroup driver of the runtime and of the kubelet',
    examine: ({runtime: {cgroupDriver}, kubelet: {config}}) =>
      judge([cgroupDriver], (ofRuntime) => {
        const ofKubelet = valueOf(config)?.cgroupDriver ?? '';
        if (ofKubelet === '' || ofKubelet === ofRuntime)
          return ok(`${ofRuntime}${ofKubelet === '' ? '' : ', as in the kubelet'}`);
        return failure(`the runtime uses ${ofRuntime}, the kubelet ${ofKubelet}`, {
          details: ['pods do not start, or are counted in the wrong cgroup, with different drivers'],
          remedy: [
            `set cgroupDriver: ${ofRuntime} in ${valueOf(config)?.path ?? 'the configuration'} and restart the kubelet`,
          ],
        });
      }),
  },
  {
    id: 'runtime/pause-image',
    title: 'image of pod sandboxes',
    examine: ({runtime: {config, images, version}}) =>
      judge([config, images, version], ({sandboxImage}, all, {name, version: text}) => {
        if (sandboxImage === undefined) return skipped('the runtime does not report its sandbox image');
        const image = all.find(({tags}) => tags.includes(sandboxImage));
        if (image === undefined)
          return warning(`${sandboxImage} is not present; the next pod has to pull it`, {
            remedy: [{kcri: ['pull', sandboxImage]}],
          });
        if (image.isPinned) return ok(`${sandboxImage} is present and pinned`);
        if (name === 'containerd' && /^v?1\.[0-6]\./.test(text))
          return ok(`${sandboxImage} is present; ${name} ${text} cannot pin images`);
        return warning(`${sandboxImage} is present, but not pinned: image garbage collection may remove it`, {
          remedy: [`ctr -n k8s.io images label ${shellQuote(sandboxImage)} io.cri-containerd.pinned=pinned`],
        });
      }),
  },
  {
    id: 'runtime/containers',
    title: 'containers in an unknown state',
    examine: ({runtime: {containers}}) =>
      judge([containers], (all) => {
        const unknown = all.filter(({state}) => state === 'CONTAINER_UNKNOWN');
        if (unknown.length === 0) return ok(`${counted(all.length, 'container')}, none in an unknown state`);
        return failure(`${counted(unknown.length, 'container')} in an unknown state`, {
          details: unknown.map(({name, id}) => `${name} (${id.slice(0, 13)})`),
          remedy: unknown.slice(0, 3).map(({id}) => ({kcri: ['rm', id.slice(0, 13)]})),
        });
      }),
  },
];

/** Judges the handlers of a runtime that does not report its configuration. */
function ofReportedHandlers(names: readonly string[]): Outcome {
  if (names.length === 0) return skipped('the runtime does not report its handlers');
  const named = names.filter((name) => name !== '');
  if (names.includes(''))
    return ok(`the runtime has one, of ${counted(named.length, 'handler')}: ${named.join(', ')}`);
  return failure('the runtime has no default handler', {
    details: [`handlers: ${named.join(', ')}`],
    remedy: ['set default_runtime in the configuration of the runtime'],
  });
}

/** Returns the usual time of a call; undefined of too few. */
function usualOf(times: readonly number[]): number | undefined {
  return times.length < MIN_HISTORY ? undefined : medianOf(times);
}
