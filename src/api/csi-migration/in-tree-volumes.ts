/** CSI drivers that mount volumes of a kind in Kubernetes 1.36, which has no plugin of its own for them (csi-translation-lib). */
export const MIGRATED_TO_CSI = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
} as const;

/** A kind of volume whose plugin moved to a CSI driver. */
export type MigratedKind = keyof typeof MIGRATED_TO_CSI;

/** Kinds of volumes whose plugins moved to CSI drivers. */
export const MIGRATED_KINDS = Object.keys(MIGRATED_TO_CSI) as readonly MigratedKind[];

/** Kinds that Kubernetes has removed, with the CSI drivers of their storage; undefined if there is none. */
const REMOVED: Readonly<Record<string, string | undefined>> = {
  cephfs: 'cephfs.csi.ceph.com',
  flocker: undefined,
  glusterfs: undefined,
  photonPersistentDisk: undefined,
  quobyte: 'csi.quobyte.com',
  rbd: 'rbd.csi.ceph.com',
  scaleIO: 'csi-vxflexos.dellemc.com',
  storageos: undefined,
};

/** Returns why volumes of a kind cannot be mounted. */
export function whyNotMounted(kind: string): string {
  if (kind in REMOVED) {
    const driver = REMOVED[kind];
    return driver === undefined
      ? 'Kubernetes has removed volumes of this kind, without a CSI driver in place of them'
      : `Kubernetes has removed volumes of this kind; use the CSI driver ${driver}`;
  }
  return 'volumes of this kind are not attached to the node';
}

/** Reports whether a CSI driver mounts volumes of this kind. */
export function isMigrated(kind: string): kind is MigratedKind {
  return Object.hasOwn(MIGRATED_TO_CSI, kind);
}
