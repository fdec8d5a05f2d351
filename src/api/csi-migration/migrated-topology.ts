import type {PersistentVolume, VolumeNodeAffinity} from '../types/v1-persistent-volumes.js';
import type {MigratedKind} from './in-tree-volumes.js';

/** Labels of nodes that tell where they are. */
interface TopologyLabels {
  readonly zone: string;
  readonly region: string;
}

const LABELS: TopologyLabels = {
  zone: 'topology.kubernetes.io/zone',
  region: 'topology.kubernetes.io/region',
};
const BETA_LABELS: TopologyLabels = {
  zone: 'failure-domain.beta.kubernetes.io/zone',
  region: 'failure-domain.beta.kubernetes.io/region',
};

/** Labels that drivers give their nodes, by the kind of volume that they replace; the other drivers have none. */
const DRIVER_LABELS: Readonly<Partial<Record<MigratedKind, Partial<TopologyLabels>>>> = {
  awsElasticBlockStore: {zone: 'topology.ebs.csi.aws.com/zone'},
  cinder: {zone: 'topology.cinder.csi.openstack.org/zone'},
  gcePersistentDisk: {zone: 'topology.gke.io/zone'},
  vsphereVolume: {zone: 'topology.csi.vmware.com/zone', region: 'topology.csi.vmware.com/region'},
};

/** Separates the zones of a volume in its label. */
const DELIMITER = '__';

/**
 * Returns the node affinity of a PersistentVolume with the labels of the CSI driver in place of those of zones and regions, which
 * can also be labels of the volume (translateTopologyFromInTreeToCSI, translateTopologyFromInTreevSphereToCSI). Pure.
 */
export function migratedNodeAffinity(
  kind: MigratedKind,
  volume: PersistentVolume,
): VolumeNodeAffinity | undefined {
  const {nodeAffinity} = volume.spec;
  const labels = DRIVER_LABELS[kind];
  if (labels?.zone === undefined) return nodeAffinity;
  const found = labelsOf(volume);
  const areZonesListed = labels.region === undefined;
  const zoned = withLabel(nodeAffinity, volume, {from: found.zone, to: labels.zone, areZonesListed});
  if (labels.region !== undefined)
    return withLabel(zoned, volume, {from: found.region, to: labels.region, areZonesListed});
  return found === BETA_LABELS && valuesOf(zoned, found.region).length > 0
    ? renamed(zoned, found.region, LABELS.region)
    : zoned;
}

/** Returns the labels that a volume uses, of which older volumes have others (getTopologyLabel). */
function labelsOf({metadata: {labels = {}}, spec: {nodeAffinity}}: PersistentVolume): TopologyLabels {
  const both = [LABELS, BETA_LABELS];
  return (
    both.find(({zone}) => hasKey(nodeAffinity, zone)) ??
    both.find(({zone}) => labels[zone] !== undefined) ??
    LABELS
  );
}

/** A label to replace, or to take from the labels of the volume. */
interface Replacement {
  readonly from: string;
  readonly to: string;
  /** True if the label of the volume can have several values. */
  readonly areZonesListed: boolean;
}

function withLabel(
  affinity: VolumeNodeAffinity | undefined,
  {metadata: {labels = {}}}: PersistentVolume,
  {from, to, areZonesListed}: Replacement,
): VolumeNodeAffinity | undefined {
  if (valuesOf(affinity, from).length > 0) return renamed(affinity, from, to);
  const text = labels[from] ?? '';
  const values = (areZonesListed ? text.split(DELIMITER) : [text]).map((value) => value.trim());
  const sorted = [...new Set(values.filter((value) => value !== ''))].toSorted();
  return sorted.length === 0 ? affinity : extended(affinity, {key: to, operator: 'In', values: sorted});
}

type Terms = NonNullable<VolumeNodeAffinity['required']>['nodeSelectorTerms'];
type Expression = NonNullable<Terms[number]['matchExpressions']>[number];

function termsOf(affinity: VolumeNodeAffinity | undefined): Terms {
  return affinity?.required?.nodeSelectorTerms ?? [];
}

function expressionsOf(affinity: VolumeNodeAffinity | undefined): readonly Expression[] {
  return termsOf(affinity).flatMap(({matchExpressions = []}) => matchExpressions);
}

function hasKey(affinity: VolumeNodeAffinity | undefined, wanted: string): boolean {
  return expressionsOf(affinity).some(({key}) => key === wanted);
}

function valuesOf(affinity: VolumeNodeAffinity | undefined, wanted: string): readonly string[] {
  return expressionsOf(affinity).flatMap(({key, values = []}) => (key === wanted ? values : []));
}

function renamed(affinity: VolumeNodeAffinity | undefined, from: string, to: string): VolumeNodeAffinity {
  return withTerms(termsOf(affinity), (expressions) =>
    expressions.map((expression) => (expression.key === from ? {...expression, key: to} : expression)),
  );
}

/** Adds a requirement to each term. */
function extended(affinity: VolumeNodeAffinity | undefined, requirement: Expression): VolumeNodeAffinity {
  const terms = termsOf(affinity);
  return withTerms(terms.length === 0 ? [{}] : terms, (expressions) => [...expressions, requirement]);
}

function withTerms(
  terms: Terms,
  change: (expressions: readonly Expression[]) => readonly Expression[],
): VolumeNodeAffinity {
  const nodeSelectorTerms = terms.map((term) => ({
    ...term,
    matchExpressions: change(term.matchExpressions ?? []),
  }));
  return {required: {nodeSelectorTerms}};
}
