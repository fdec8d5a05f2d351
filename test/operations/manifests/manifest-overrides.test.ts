import {describe, expect, test} from 'vitest';
import {loadManifest, type LoadedManifest} from '../../../src/api/manifest/load-manifest.js';
import {
  ManifestEditor,
  type ManifestOverrides,
} from '../../../src/operations/manifests/manifest-overrides.js';

const POD = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  initContainers: [{name: setup, image: "docker.io/library/nginx:1.27"}]
  containers:
  - {name: web, image: nginx}
  - {name: log, image: "registry.example:5000/log@sha256:${'a'.repeat(64)}"}
  volumes: [{name: data, image: {reference: "nginx:1.26"}}]
`;

function load(overrides: ManifestOverrides, text = POD): LoadedManifest {
  const editor = new ManifestEditor(overrides);
  const manifest = loadManifest(text, {file: 'pod.yaml', edit: editor.edit});
  editor.assertUsed();
  return manifest;
}

function imagesOf({pods, issues}: LoadedManifest): readonly unknown[] {
  expect(issues).toEqual([]);
  const {initContainers = [], containers, volumes = []} = pods[0]!.pod.spec;
  return [...[...initContainers, ...containers].map(({image}) => image), volumes[0]?.image?.reference];
}

describe('a namespace', () => {
  test('is set where there is none, except in objects without a namespace', () => {
    const runtimeClass = 'apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: r}\nhandler: h\n';
    const list = 'apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: c, namespace: ""}}]\n';
    const {pods, objects, issues} = load({namespace: 'shop'}, `${POD}---\n${runtimeClass}---\n${list}`);
    expect(issues).toEqual([]);
    const all = [...pods.map(({pod}) => pod), ...objects.map(({object}) => object)];
    expect(all.map(({metadata}) => metadata.namespace)).toEqual(['shop', undefined, 'shop']);
  });

  test('conflicts with another one, at its position', () => {
    const text = POD.replace('name: web}', 'name: web, namespace: default}');
    const {issues} = load({namespace: 'shop'}, text);
    expect(issues.map(({line, column, message}) => [line, column, message])).toEqual([
      [
        3,
        34,
        'metadata.namespace: Invalid value: "default": does not match the namespace "shop" of --namespace',
      ],
    ]);
    expect(load({namespace: 'default'}, text).issues).toEqual([]);
  });
});

describe('an image', () => {
  test.each<[string, string, readonly string[]]>([
    ['nginx', 'mirror/nginx', ['mirror/nginx:1.27', 'mirror/nginx', 'mirror/nginx:1.26']],
    ['nginx', 'nginx:2', ['nginx:2', 'nginx:2', 'nginx:2']],
    ['nginx:1.27', 'mirror/nginx', ['mirror/nginx', 'nginx', 'nginx:1.26']],
    ['docker.io/library/nginx:1.26', 'x:1', ['docker.io/library/nginx:1.27', 'nginx', 'x:1']],
  ])('%s is replaced by %s wherever it occurs', (from, image, [setup, web, volume]) => {
    const [first, second, , last] = imagesOf(load({images: [{from, image}]}));
    expect([first, second, last]).toEqual([setup, web, volume]);
  });

  test('keeps its digest if only the name is replaced', () => {
    const images = [{from: 'registry.example:5000/log', image: 'mirror/log'}];
    expect(imagesOf(load({images}))[2]).toBe(`mirror/log@sha256:${'a'.repeat(64)}`);
  });

  test('is replaced in the template of a workload', () => {
    const {edit} = new ManifestEditor({images: [{from: 'nginx', image: 'mirror/nginx:1'}]});
    const decoded: unknown[] = [];
    const template = `apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: nginx}]}}}}}\n`;
    loadManifest(`${POD}---\n${template}`, {
      file: 'x',
      edit: (root) => {
        const edited = edit(root);
        decoded.push(edited.root);
        return edited;
      },
    });
    expect(
      JSON.stringify(decoded[1], (_, value: unknown) => (value instanceof Map ? [...value] : value)),
    ).toContain('"mirror/nginx:1"');
  });

  test('that no container uses is an error with a suggestion', () => {
    expect(() => load({images: [{from: 'ngnix', image: 'x'}]})).toThrow(
      expect.objectContaining({
        message: '--image: no container uses the image "ngnix"',
        hint: 'did you mean "nginx"?',
      }) as Error,
    );
  });
});

describe('the image of a container', () => {
  test('is set by name, after images are replaced', () => {
    const images = [{from: 'nginx', image: 'mirror/nginx'}];
    const containerImages = [{from: 'web', image: 'web:2'}];
    expect(imagesOf(load({images, containerImages})).slice(0, 2)).toEqual(['mirror/nginx:1.27', 'web:2']);
  });

  test('is set for all containers with *', () => {
    expect(imagesOf(load({containerImages: [{from: '*', image: 'x:1'}]}))).toEqual([
      'x:1',
      'x:1',
      'x:1',
      'nginx:1.26',
    ]);
  });

  test('that does not exist is an error that lists the containers', () => {
    expect(() => load({containerImages: [{from: 'cache', image: 'x'}]})).toThrow(
      expect.objectContaining({
        message: '--set-image: no container "cache"',
        hint: 'the manifests have log, setup, web',
      }) as Error,
    );
  });
});
