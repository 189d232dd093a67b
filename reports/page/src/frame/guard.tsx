// SPDX-License-Identifier: Apache-2.0
// Keeps a section that cannot be shown from taking the whole page with it.
import { Component, type ComponentChildren } from 'preact';

interface Props {
  title: string;
  children: ComponentChildren;
}

export class Guard extends Component<Props, { error: string | null }> {
  state = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error.message : String(error) };
  }

  render({ title, children }: Props) {
    if (this.state.error === null) return children;
    return (
      <p role="alert" class="card alert">
        {title} cannot be shown: {this.state.error}. The other sections are not affected; please report this.
      </p>
    );
  }
}
