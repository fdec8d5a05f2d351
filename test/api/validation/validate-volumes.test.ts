import {describe, expect, test} from 'vitest';
import {NOT_A_LABEL, NOT_A_SUBDOMAIN, specIssues, volumeIssues, testValidation} from '../validation-cases.js';

describe('volumes', () => {
  testValidation(volumeIssues, [
    ['emptyDir: {medium: Memory, sizeLimit: 1Gi}'],
    [
      'emptyDir: {sizeLimit: -1}',
      'V.emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity',
    ],
    ['emptyDir: {}, hostPath: {path: /x}', 'V.emptyDir: Forbidden: may not specify more than 1 volume type'],
    ['hostPath: {path: ""}', 'V.hostPath.path: Required value'],
    [
      'hostPath: {path: /a/../b, type: Folder}',
      `V.hostPath.path: Invalid value: "/a/../b": must not contain '..'`,
      'V.hostPath.type: Unsupported value: "Folder": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
    ],
    ['secret: {}', 'V.secret.secretName: Required value'],
    [
      'configMap: {name: m, defaultMode: 01000, items: [{key: "", path: /a}, {key: k, path: ..x}]}',
      'V.configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
      'V.configMap.items[0].key: Required value',
      'V.configMap.items[0].path: Invalid value: "/a": must be a relative path',
      `V.configMap.items[1].path: Invalid value: "..x": must not start with '..'`,
    ],
    ['downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.labels}}]}'],
    [
      'downwardAPI: {items: [{path: a, fieldRef: {fieldPath: status.podIP}}, {path: b}, {path: c, resourceFieldRef: {resource: limits.cpu}}]}',
      'V.downwardAPI.items[0].fieldRef.fieldPath: Unsupported value: "status.podIP": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
      'V.downwardAPI.items[1]: Required value: one of fieldRef and resourceFieldRef is required',
      'V.downwardAPI.items[2].resourceFieldRef.containerName: Required value',
    ],
    [
      'projected: {sources: [{secret: {name: s, items: [{key: k, path: p}]}}, {configMap: {name: m, items: [{key: k, path: p}]}, downwardAPI: {}}, {secret: {}}]}',
      'V.projected.sources[1]: Forbidden: may not specify more than 1 volume type per source',
      'V.projected.sources[1]: Invalid value: "p": conflicting duplicate paths',
      'V.projected.sources[2].secret.name: Required value',
    ],
    [
      'projected: {sources: [{serviceAccountToken: {path: "", expirationSeconds: 1}}]}',
      'V.projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
      'V.projected.sources[0].serviceAccountToken.path: Required value',
      'V.projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
    ],
    [
      'projected: {sources: [{clusterTrustBundle: {path: a}}]}',
      'V.projected.sources[0].clusterTrustBundle: Required value: either name or signerName must be specified',
    ],
    [
      'projected: {sources: [{podCertificate: {signerName: a/b, keyType: DSA}}]}',
      'V.projected.sources[0].podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath',
      'V.projected.sources[0].podCertificate.keyType: Unsupported value: "DSA": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"',
    ],
    ['image: {}', 'V.image.reference: Required value'],
    ['nfs: {server: s, path: rel}', 'V.nfs.path: Invalid value: "rel": must be an absolute path'],
    ['persistentVolumeClaim: {}', 'V.persistentVolumeClaim.claimName: Required value'],
    [
      'iscsi: {targetPortal: p, iqn: x, lun: 256}',
      'V.iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
      'V.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
    ],
    ['fc: {}', 'V.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both'],
    [
      'csi: {driver: ""}',
      'V.csi.driver: Required value',
      `V.csi.driver: Invalid value: "": ${NOT_A_SUBDOMAIN}`,
    ],
    [
      'flocker: {datasetName: a/b, datasetUUID: u}',
      'V.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
      `V.flocker.datasetName: Invalid value: "a/b": must not contain '/'`,
    ],
    ['cephfs: {monitors: []}', 'V.cephfs.monitors: Required value'],
    [
      'gitRepo: {repository: r, directory: /x}',
      'V.gitRepo.directory: Invalid value: "/x": must be a relative path',
    ],
    [
      'ephemeral: {volumeClaimTemplate: {metadata: {name: x}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}',
      'V.ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set',
    ],
    ['ephemeral: {}', 'V.ephemeral.volumeClaimTemplate: Required value'],
    ['tape: {}', 'unknown field "V.tape"'],
  ]);

  test('must have unique names', () => {
    expect(specIssues('volumes: [{name: a}, {name: a}, {}, {name: A}]')).toEqual([
      'spec.volumes[1].name: Duplicate value: "a"',
      'spec.volumes[2].name: Required value',
      `spec.volumes[3].name: Invalid value: "A": ${NOT_A_LABEL}`,
    ]);
  });
});
