import {coalesce} from '../../../base/async/coalesce.js';
import type {CommandContext} from '../../../cli/command/contexts.js';
import {escapeToLine} from '../../../format/escape-controls.js';
import type {CheckResult} from '../../doctor/check.js';
import type {LiveFeed} from '../live/live-feed.js';
import type {DoctorAnswer, NodeDetails} from '../protocol.js';
import type {UiRoute} from '../server/ui-request.js';
import {findNode, pageText} from './find-target.js';

/** Returns the routes of the details of nodes, and of the checks of `kcri doctor`. */
export function nodeRoutes(feed: LiveFeed): readonly UiRoute[] {
  /** Examinations by node: an examination is costly, and several pages share one. */
  const examinations = new WeakMap<CommandContext, () => Promise<DoctorAnswer>>();
  return [
    {
      method: 'GET',
      path: '/api/node',
      handle: async ({query}) => ({
        kind: 'json',
        value: await readNode(feed, await findNode(feed, query.get('key'))),
      }),
    },
    {
      method: 'GET',
      path: '/api/doctor',
      handle: async ({query}) => {
        const services = await findNode(feed, query.get('key'));
        const examine = examinations.get(services) ?? coalesce(async () => await examineNode(services));
        examinations.set(services, examine);
        return {kind: 'json', value: await examine()};
      },
    },
  ];
}

async function readNode(feed: LiveFeed, services: CommandContext): Promise<NodeDetails> {
  if ((await services.settings.remoteEndpoint()) !== undefined) {
    const {describeRemoteNode} = await import('../../node/describe-remote-node.js');
    return {text: pageText(await describeRemoteNode(services))};
  }
  const [{describeCommandNode}, {readTopology}] = await Promise.all([
    import('../../node/describe-command-node.js'),
    import('./node-topology.js'),
  ]);
  const pods = [...(await feed.current()).targets.values()].map(({shown: {listed}}) => listed);
  const names = new Map<string, string>(pods.map(({uid, namespace, name}) => [uid, `${namespace}/${name}`]));
  const nameOf = (uid: string) => names.get(uid);
  const [text, topology] = await Promise.all([describeCommandNode(services), readTopology(services, nameOf)]);
  return {text: pageText(text), ...(topology !== undefined && {topology})};
}

/** Examines a node as `kcri doctor` does. Rejects with KcriError. */
async function examineNode(services: CommandContext): Promise<DoctorAnswer> {
  const [{collectSnapshot}, {CHECKS, runChecks}, {adviceText, commandPrefix}] = await Promise.all([
    import('../../doctor/collect-snapshot.js'),
    import('../../doctor/run-checks.js'),
    import('../../why/answer.js'),
  ]);
  const prefix = commandPrefix(services);
  const results = runChecks(CHECKS, await collectSnapshot(services));
  return {checks: results.map((result) => checkOf(result, (advice) => adviceText(advice, prefix)))};
}

function checkOf(
  {id, title, result, message, reason, details, remedy}: CheckResult,
  textOf: (advice: CheckResult['remedy'][number]) => string,
): DoctorAnswer['checks'][number] {
  const steps = remedy.map((advice) => escapeToLine(textOf(advice)));
  return {
    id,
    title,
    outcome: result,
    details: [message, ...(reason === undefined ? [] : [reason]), ...details].map(escapeToLine),
    ...(steps.length > 0 && {remedy: steps.join('\n')}),
  };
}
