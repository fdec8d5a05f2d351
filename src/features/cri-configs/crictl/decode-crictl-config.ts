import {parseYaml} from '../../../api/decoding/parse-yaml.js';
import {ConfigError} from '../../../base/errors.js';
import type {Configs} from '../../../operations/container-configs/parse-config-file.js';
import {decodeGoJson} from './decode-go-json.js';
import {goYamlError} from '../../../cli/settings/go-yaml-error.js';
import {toGoJson} from './go-json-value.js';

/**
 * Decodes the first document of a config file as crictl does: sigs.k8s.io/yaml makes JSON of it, and Go's encoding/json
 * decodes that. Throws ConfigError with their texts.
 */
export function decodeCrictlConfig<Name extends keyof Configs>(name: Name, text: string): Configs[Name] {
  const [document] = parseYaml(text, {onlyFinite: false, rejectsSlashEscapes: true});
  const problem = document?.problems.find(({duplicateOf}) => duplicateOf === undefined);
  const error = goYamlError(text, problem);
  if (error !== undefined) throw new ConfigError(`error converting YAML to JSON: ${error}`);
  const json = document?.root === undefined ? null : toGoJson(document.root, {kind: 'message', name});
  return decodeGoJson(name, json);
}
