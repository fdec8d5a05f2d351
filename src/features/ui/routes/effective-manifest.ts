import type {Pod} from '../../../api/types/v1-pod.js';
import {withoutDefaults} from '../../../api/defaults/without-defaults.js';
import type {CommandContext} from '../../../cli/command/contexts.js';
import {escapeToLine} from '../../../format/escape-controls.js';
import type {Json} from '../../../format/json.js';
import {leavesOf, type ExplainedField} from '../../../kubelet/index.js';
import {explainPod} from '../../describe/explain-pods.js';
import {explainedLines} from '../../plan/explained-fields.js';
import type {ShownPod} from '../../pods/listed-pod.js';
import type {ManifestLine} from '../protocol.js';

/**
 * Returns the manifest of a pod with its defaults, and the configs that the runtime received with the origin of their
 * fields. Rejects with KcriError.
 */
export async function effectiveManifest(
  services: CommandContext,
  {listed, pod}: ShownPod,
): Promise<readonly ManifestLine[]> {
  const manifest = manifestOf(pod);
  const {configs} = await explainPod(services, listed);
  const lines = [
    {text: '# Manifest, with the defaults of its fields'},
    ...(await explainedLines(manifest, [{at: [], fields: defaultedFields(manifest)}])),
  ];
  for (const {target, config, fields, unverified} of configs) {
    const note = unverified === undefined ? '' : ` (not compared with the manifest: ${unverified})`;
    lines.push(
      {text: ''},
      {text: escapeToLine(`# Config of the ${target} that the runtime received${note}`)},
    );
    lines.push(...(await explainedLines(config, [{at: [], fields}])));
  }
  return lines;
}

/** Returns the manifest of a pod without what the kubelet or an API server adds to it. */
function manifestOf({apiVersion, kind, metadata: {name, namespace, labels, annotations}, spec}: Pod): Pod {
  return {
    apiVersion,
    kind,
    metadata: {
      ...(name !== undefined && {name}),
      ...(namespace !== undefined && {namespace}),
      ...(labels !== undefined && {labels}),
      ...(annotations !== undefined && {annotations}),
    },
    spec,
  };
}

/** Returns the fields that have the values of their defaults. */
function defaultedFields(
  manifest: Pod,
): readonly Pick<ExplainedField, 'path' | 'text' | 'sources' | 'value'>[] {
  const given = new Set(leavesOf(asJson(withoutDefaults(manifest))).map(({path}) => JSON.stringify(path)));
  return leavesOf(asJson(manifest))
    .filter(({path}) => !given.has(JSON.stringify(path)))
    .map(({path, value}) => ({path, value, text: 'default', sources: []}));
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
