//! Nothing of its own: the package exists for its features and runs the tests of `mcp-tasks-types`.
