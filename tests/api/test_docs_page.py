"""The API's documentation is a page of this server alone."""

import re

import pytest

FILES = ["/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/docs/start.js"]


def test_the_page_names_no_other_host(make) -> None:
    server = make()
    page = server.call("GET", "/docs")
    assert page.status_code == 200
    assert "//" not in page.text
    assert [f"/{path}" for path in re.findall(r'(?:src|href)="(docs/[^"]+)"', page.text)] == [
        "/docs/swagger-ui.css",
        "/docs/swagger-ui-bundle.js",
        "/docs/start.js",
    ]
    assert "<script>" not in page.text


@pytest.mark.parametrize("path", ["/docs", *FILES])
def test_every_file_has_the_policy(make, path) -> None:
    reply = make().call("GET", path)
    assert reply.status_code == 200
    assert reply.content
    policy = reply.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_there_is_no_second_page_that_loads_scripts_from_elsewhere(make) -> None:
    for path in ("/redoc", "/docs/oauth2-redirect"):
        assert make().call("GET", path).status_code == 404
