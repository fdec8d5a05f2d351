import type {Case} from '../cases.js';
import type {Values} from './values.js';

const POD = 'metadata: {name: p, namespace: d}\n';
const CONTAINER = 'metadata: {name: m}\nimage: {image: "localhost:5000/busybox:1"}\n';

/** Puts one value in so many into each text, so that all texts together have each value. */
function spread(texts: readonly string[], values: readonly string[], step: number): readonly string[] {
  return texts.flatMap((text, index) =>
    values
      .filter((_, at) => at % step === index % step)
      .map((value) => text.replaceAll('VALUE', () => value)),
  );
}

const everyNth = (texts: readonly string[], step: number): readonly string[] =>
  texts.filter((_, at) => at % step === 0);

/** Returns command lines with config files of pods and containers. */
export function configFiles(values: Values): readonly Case[] {
  const {yamlScalars, jsonValues, podStructures, containerStructures} = values;
  const pods = [
    ...spread(values.podYaml, yamlScalars, 2).map((text) => `${POD}${text}\n`),
    ...spread(values.podJson, jsonValues, 2),
    ...podStructures,
  ];
  const containers = [
    ...spread(values.containerYaml, yamlScalars, 4).map((text) => `${CONTAINER}${text}\n`),
    ...spread(values.containerJson, jsonValues, 2),
    ...containerStructures,
  ];
  return [
    ...pods.map((given): Case => ['runp {DIR}/given', {given, shows: 'requests'}]),
    ...containers.map((given): Case => [
      'create {web} {DIR}/given {DIR}/web.json',
      {given, shows: 'requests'},
    ]),
    ...everyNth(podStructures, 6).flatMap((given): readonly Case[] => [
      ['create {web} {DIR}/container.json {DIR}/given', {given, shows: 'requests'}],
      ['pull --pod-config {DIR}/given localhost:5000/new:1', {given, shows: 'requests'}],
    ]),
    ...everyNth(containerStructures, 4).map((given): Case => [
      'run --no-pull {DIR}/given {DIR}/pod.json',
      {given, shows: 'requests'},
    ]),
  ];
}

const SETTINGS = ['runtime-endpoint', 'timeout', 'debug', 'max-retries', 'pull-image-on-create'];

/** Returns command lines that read and change crictl's config file with every kind of scalar. */
export function crictlFiles({yamlScalars, podStructures}: Values): readonly Case[] {
  const given = SETTINGS.flatMap((key, index) =>
    yamlScalars.filter((_, at) => at % SETTINGS.length === index).map((value) => `${key}: ${value}\n`),
  );
  const structures = everyNth(podStructures, 2).map((text) =>
    text.replaceAll('metadata: {name: p, namespace: d}', 'timeout: 4').replaceAll('labels', 'debug'),
  );
  const env = {CONTAINER_RUNTIME_ENDPOINT: undefined, CRI_CONFIG_FILE: undefined};
  return [
    ...[...given, ...structures].map((text, at): Case => [
      `-c {DIR}/given --max-retries 0 -t 100ms ${at % 3 === 0 ? 'config --set max-retries=2' : 'config --list'}`,
      {given: text, env, shows: 'file'},
    ]),
    ...everyNth(given, 2).map((text): Case => [
      '-c {DIR}/given -r {ENDPOINT} version',
      {given: text, env, shows: 'file'},
    ]),
    ...yamlScalars.map((value, at): Case => [
      ['-c', '{DIR}/given', 'config', '--set', `${SETTINGS[at % SETTINGS.length] ?? ''}=${value}`],
      {shows: 'file'},
    ]),
  ];
}
