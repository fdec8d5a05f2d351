import tseslint from 'typescript-eslint';

const clockOnly =
  'Use the clock and the random function passed to constructors, so that tests can replace them.';

export default tseslint.config(
  {ignores: ['dist/', 'node_modules/', '.cache/', 'src/cri/gen/']},
  {
    files: ['src/**/*.ts', 'test/**/*.ts', 'vitest.config.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {parserOptions: {projectService: true}},
    rules: {
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      // A `using` declaration has an effect without any reference: disposal at the end of its scope.
      '@typescript-eslint/no-unused-vars': ['error', {ignoreUsingDeclarations: true}],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', {considerDefaultExhaustiveForUnions: true}],
      '@typescript-eslint/restrict-template-expressions': ['error', {allowNumber: true, allowBoolean: true}],
      // Asynchronous interfaces can have synchronous implementations.
      '@typescript-eslint/require-await': 'off',
      // There are no enums (erasableSyntaxOnly), and `any` is reported where it is made. These two take a fifth of the time.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      'no-console': 'error',
      'max-lines': ['error', {max: 400, skipBlankLines: true, skipComments: true}],
      'max-lines-per-function': ['error', {max: 60, skipBlankLines: true, skipComments: true}],
      'max-params': ['error', 4],
      complexity: ['error', 12],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/base/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        {name: 'setTimeout', message: clockOnly},
        {name: 'setInterval', message: clockOnly},
      ],
      'no-restricted-properties': [
        'error',
        {object: 'Date', property: 'now', message: clockOnly},
        {object: 'Math', property: 'random', message: clockOnly},
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['bin/*.js', 'scripts/*.mjs', 'eslint.config.js', '.dependency-cruiser.cjs'],
    extends: [tseslint.configs.disableTypeChecked],
  },
);
