import type {SyntaxProblem} from '../../api/decoding/parse-yaml.js';

/** Stage of go-yaml that reports an error. The scanner counts lines from 1, the parser from 0; neither shows the first. */
type Stage = 'scanner' | 'parser' | 'other';

/** Errors of kcri's parser with those of go-yaml 2, by the most frequent mistakes. */
const TEXTS: readonly (readonly [
  pattern: RegExp,
  stage: Stage,
  text: string | ((match: RegExpExecArray) => string),
])[] = [
  [/^control characters are not allowed/, 'other', 'control characters are not allowed'],
  [/^unknown anchor "(.*)" referenced/, 'other', ([, name = '']) => `unknown anchor '${name}' referenced`],
  [
    /^tabs are not allowed|^plain value cannot start/,
    'scanner',
    'found character that cannot start any token',
  ],
  [/^invalid escape sequence \\[xuU]/, 'scanner', 'did not find expected hexdecimal number'],
  [/^invalid escape sequence/, 'scanner', 'found unknown escape character'],
  [
    /^(?:alias|anchor) cannot be an empty/,
    'scanner',
    'did not find expected alphabetic or numeric character',
  ],
  [/^block scalar header includes/, 'scanner', 'did not find expected comment or line break'],
  [/^nested mappings are not allowed/, 'scanner', 'mapping values are not allowed in this context'],
  [/^could not resolve tag/, 'parser', 'found undefined tag handle'],
  [/^all mapping items must start|^unexpected flow-map-end/, 'parser', 'did not find expected key'],
  [
    /^all sequence items must start|^unexpected scalar at node end/,
    'parser',
    "did not find expected '-' indicator",
  ],
  [/^block collections are not allowed within flow/, 'parser', "did not find expected ',' or '}'"],
];

/** A quoted string with an escape for one half of a surrogate pair, which go-yaml rejects even with the other half. */
const SURROGATE = /"(?:[^"\\]|\\.)*?\\u[dD][89a-fA-F][\da-fA-F]{2}/s;

/** Directives in front of the first document that go-yaml does not know. */
const DIRECTIVES: readonly (readonly [RegExp, string])[] = [
  [/^%YAML (?!1\.1\s)/, 'found incompatible YAML document'],
  [/^%(?!YAML |TAG )/, 'found unknown directive name'],
];

/**
 * Returns the text of go-yaml 2 for the first problem of a text, or undefined if it reads the text. For rare mistakes,
 * the words are those of kcri's parser.
 */
export function goYamlError(text: string, found: SyntaxProblem | undefined): string | undefined {
  const problem = found?.original ?? found;
  const directive = DIRECTIVES.find(([pattern]) => pattern.test(text));
  if (directive !== undefined) return `yaml: ${directive[1]}`;
  const surrogate = SURROGATE.exec(text);
  if (surrogate !== null && (problem === undefined || surrogate.index < problem.offset))
    return at('scanner', lineOf(text, surrogate.index + surrogate[0].length), SURROGATE_ESCAPE);
  if (problem === undefined) return undefined;
  return ofParser(text, problem);
}

/** Returns the text for an error of kcri's parser. */
function ofParser(text: string, {message, offset}: Pick<SyntaxProblem, 'message' | 'offset'>): string {
  if (message.startsWith('missing closing '))
    return at('scanner', lineOf(text, text.length), 'found unexpected end of stream');
  const flow = /^flow (map|sequence) .*end with a/.exec(message);
  if (flow !== null) return at('parser', lastLine(text), endOfFlow(text, flow[1] === 'map' ? '}' : ']'));
  for (const [pattern, stage, words] of TEXTS) {
    const match = pattern.exec(message);
    if (match !== null)
      return at(stage, lineOf(text, offset), typeof words === 'string' ? words : words(match));
  }
  return `yaml: ${message}`;
}

const SURROGATE_ESCAPE = 'found invalid Unicode character escape code';

/** Returns what is missing at the end of a text with an open bracket. */
function endOfFlow(text: string, bracket: string): string {
  return /[[{,:?]\s*$/.test(text)
    ? 'did not find expected node content'
    : `did not find expected ',' or '${bracket}'`;
}

function at(stage: Stage, line: number, text: string): string {
  const shown = line === 0 || stage === 'other' ? '' : `line ${stage === 'scanner' ? line + 1 : line}: `;
  return `yaml: ${shown}${text}`;
}

/** Returns the line of an offset, from 0. */
function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length - 1;
}

/** Returns the line at which go-yaml finds the end of a text: a new one. */
function lastLine(text: string): number {
  return lineOf(text, text.length) + (text.endsWith('\n') ? 0 : 1);
}
