// SPDX-License-Identifier: Apache-2.0
declare module '*.def' {
  const text: string;
  export default text;
}
